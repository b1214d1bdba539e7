/**
 * A sink of files that knows which runs it shows: a file `_loaded/<run>` for each, made when all else stands, with the
 * name of the sink in it, and in a second line which rows were left out where that were some. The file `_lake` holds
 * the id of the lake.
 */

import { ToolkitError } from '../core/errors.ts'
import type { DeliverySink, LakeClaim, Sink } from '../core/sink.ts'
import { MANIFEST_FOLDER } from '../lake/files/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import { shownText } from './export-names.ts'

/** The table of a database that holds the id, and the file of a folder. */
export const LAKE_TABLE = 'firmlake_lake'
const LAKE_MARK = '_lake'

/** The content of a target, as it names it: the id of its lake, absent where it has none, and its runs. */
export interface FoundTarget {
  readonly lake: string | undefined
  readonly runs: ReadonlySet<string>
}

/** The changes to a target before rows of the lake come. */
export interface JudgedTarget {
  /** The id of the lake that is to be written into it; absent where it stays as it is. */
  readonly mark?: string
  /** Runs of another lake that it is not to name any more; their rows stay. */
  readonly released: readonly string[]
  /** Runs that the lake has lost, whose rows are to go. */
  readonly lost: readonly string[]
}

/** The error of a target that shows a run which the lake does not have. */
export const targetAhead = (target: string, run: string): ToolkitError =>
  new ToolkitError(
    'TARGET_AHEAD',
    `Cannot write to ${target}: it shows ${shownText(run)}, which the lake does not have, expected runs and snapshots of the lake; ` +
      'bring back the lake that has it, or load the target anew with --overwrite',
    { run },
  )

/**
 * Compares what a target holds with the lake that comes.
 *
 * @param target for the message, without a password
 * @throws {ToolkitError} `TARGET_OF_ANOTHER_LAKE`, `TARGET_AHEAD`
 */
export const judgeTarget = async (
  { lake, adopt, marks, lost: lostOf, overwrite = false, onAnew }: LakeClaim,
  found: FoundTarget,
  target: string,
): Promise<JudgedTarget> => {
  const isOfAnother = found.lake !== undefined && found.lake !== lake
  if (isOfAnother && !adopt)
    throw new ToolkitError(
      'TARGET_OF_ANOTHER_LAKE',
      `Cannot write to ${target}: it holds the rows of another lake; name another target, or hand it over with --adopt`,
    )
  // A visitor changes nothing of what the other lake has there.
  if (isOfAnother && !marks) return { released: [], lost: [] }
  const lost = (await lostOf?.(found.runs)) ?? []
  const mark = marks && lake !== null && found.lake !== lake ? { mark: lake } : {}
  const [first] = lost
  if (first === undefined) return { ...mark, released: [], lost }
  if (overwrite) {
    onAnew?.(first)
    return { ...mark, released: [], lost }
  }
  if (!isOfAnother) throw targetAhead(target, first)
  return { ...mark, released: lost, lost: [] }
}

const FOLDER = '_loaded'
/** End of the mark of a run whose files are being shown. */
const UNFINISHED = '.unfinished'

const runOfMark = (mark: string): string =>
  mark.endsWith(UNFINISHED) ? mark.slice(0, -UNFINISHED.length) : mark

/** A lake's own files stand where a sink's would. @throws {ToolkitError} `TARGET_REFUSED` */
export const refuseLake = async (directory: string): Promise<void> => {
  if (!(await storageOf(directory).hasFolder(MANIFEST_FOLDER))) return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot write to "${directory}": it is a lake, expected a folder of its own`,
  )
}

/**
 * A sink of files as one that runs can be delivered to: it marks in the folder `_loaded` which it shows.
 *
 * @param directory the folder of the sink's files, or `s3://bucket/prefix`
 * @throws {ToolkitError} `TARGET_REFUSED` for a lake or a folder of another sink, `TARGET_OF_ANOTHER_LAKE`, `TARGET_AHEAD`, of the work with it
 */
export const withDeliveredRuns = (sink: Sink, directory: string): DeliverySink => {
  const storage = storageOf(directory)

  /** A folder of another format shows runs that this one lacks. */
  const refuseOthers = async (aMark: string | undefined): Promise<void> => {
    const other = aMark === undefined ? null : await storage.read(aMark)
    const [name = ''] = String(other ?? '').split('\n')
    if (name !== '' && name !== sink.name)
      throw new ToolkitError(
        'TARGET_REFUSED',
        `Cannot deliver runs to "${directory}" as "${sink.name}": it has runs as "${name}", expected a folder for each format`,
      )
  }

  const markOf = async (): Promise<string | undefined> =>
    (await storage.read(LAKE_MARK))?.toString('latin1').trim()

  /** Removes the files of a run, and then what names it: where it is stopped before, the run is still lost. */
  const removeRun = async (run: string): Promise<void> => {
    await (await sink.open(run)).abort()
    await storage.remove([`${FOLDER}/${run}`, `${FOLDER}/${run}${UNFINISHED}`])
  }

  /** @returns the runs that it shows then */
  const claim = async (lakeClaim: LakeClaim, marks: readonly string[]): Promise<readonly string[]> => {
    const target = `folder "${directory}"`
    const runs = new Set(marks.map(runOfMark))
    const lake = await markOf()
    const { mark, released, lost } = await judgeTarget(lakeClaim, { lake, runs }, target)
    for (const run of lost) await removeRun(run)
    await storage.remove(
      marks.filter((one) => released.includes(runOfMark(one))).map((one) => `${FOLDER}/${one}`),
    )
    if (mark !== undefined) {
      if (lake !== undefined) await storage.replace(LAKE_MARK, `${mark}\n`)
      // Another lake may have been first.
      else if (!(await storage.create(LAKE_MARK, `${mark}\n`)))
        await judgeTarget(lakeClaim, { lake: await markOf(), runs: new Set() }, target)
      if (marks.length > 0) lakeClaim.onAdopted?.()
    }
    return marks.filter((one) => ![...released, ...lost].includes(runOfMark(one)))
  }

  return {
    ...sink,

    async open(run, lent) {
      const opened = await sink.open(run, lent)
      let isBegun = false
      return {
        ...opened,
        async commit(files) {
          const taken = lent?.taken === undefined ? '' : `${lent.taken}\n`
          // Should all end halfway through, and the lake lose the run, it is known whose files these are.
          await storage.create(`${FOLDER}/${run}${UNFINISHED}`, `${sink.name}\n`)
          isBegun = true
          await opened.commit(files)
          await storage.create(`${FOLDER}/${run}`, `${sink.name}\n${taken}`)
          await storage.remove([`${FOLDER}/${run}${UNFINISHED}`])
        },
        async abort() {
          await opened.abort()
          if (isBegun) await storage.remove([`${FOLDER}/${run}${UNFINISHED}`])
        },
      }
    },

    async deliveredRuns(lent) {
      const found = await storage.list(FOLDER)
      await refuseLake(directory)
      await refuseOthers(found[0]?.path)
      const marks = found.map(({ path }) => path.slice(FOLDER.length + 1))
      const shown = lent?.claim === undefined ? marks : await claim(lent.claim, marks)
      return new Set(shown.filter((mark) => !mark.endsWith(UNFINISHED)))
    },
  }
}
