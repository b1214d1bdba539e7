/** Facts that are the same at each start, worked out by the build: a commit would take 30 ms for the names, the help 60 for the list. */

/** A command as the general help lists it. */
export interface ListedCommand {
  readonly name: string
  readonly summary: string
  /** Arguments as its help names them: `<path...>`. */
  readonly arguments: readonly string[]
  readonly hasOptions: boolean
}

export interface BuiltFacts {
  /** Each is another one where what it names is made otherwise. */
  readonly names: {
    /** The database of views of a lake that has nothing yet. */
    readonly views: string
    /** The tables of a catalog. */
    readonly layout: string
    /** The same with the rows that are the same in all catalogs. */
    readonly madeOf: string
  }
  readonly commands: readonly ListedCommand[]
}

/** JSON: a text stands in the one place that names it. */
declare const FACTS_OF_BUILD: string | undefined

/** `undefined` in a checkout. */
export const BUILT_FACTS: BuiltFacts | undefined =
  typeof FACTS_OF_BUILD === 'undefined' ? undefined : JSON.parse(FACTS_OF_BUILD)
