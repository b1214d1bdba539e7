/** Names of what is the same for all lakes, worked out by the build: a start would take 30 ms for them. */

/** Each is another one where what it names is made otherwise. */
export interface BuiltNames {
  /** The database of views of a lake that has nothing yet. */
  readonly views: string
  /** The tables of a catalog. */
  readonly layout: string
  /** The same with the rows that are the same in all catalogs. */
  readonly madeOf: string
}

/** A text of JSON: a text stands in the one place that names it. */
declare const FIRMLAKE_NAMES: string | undefined

/** `undefined` in a checkout. */
export const BUILT_NAMES: BuiltNames | undefined =
  typeof FIRMLAKE_NAMES === 'undefined' ? undefined : JSON.parse(FIRMLAKE_NAMES)
