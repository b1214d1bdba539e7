/**
 * A sink of files that knows which runs it shows: a file `_loaded/<run>` for each, made when all else stands, with the
 * name of the sink in it, and in a second line which rows were left out where that were some. The file `_lake` holds
 * the id of the lake.
 */

import { ToolkitError } from '../core/errors.ts'
import type { DeliverySink, LakeClaim, Sink } from '../core/sink.ts'
import { MANIFEST_FOLDER } from '../lake/files/layout.ts'
import { storageOf } from '../storage/open-storage.ts'

/** The table of a database that holds the id, and the file of a folder. */
export const LAKE_TABLE = 'firmlake_lake'
const LAKE_MARK = '_lake'

/**
 * Compares a target's mark with the lake that comes.
 *
 * @param found the id that the target holds; absent where it has none
 * @param target for the message, without a password
 * @returns whether the id of the lake is to be written into the target
 * @throws {ToolkitError} `TARGET_OF_ANOTHER_LAKE`
 */
export const isToMark = (claim: LakeClaim, found: string | undefined, target: string): boolean => {
  if (found === claim.lake) return false
  if (found !== undefined && !claim.adopt)
    throw new ToolkitError(
      'TARGET_OF_ANOTHER_LAKE',
      `Cannot write to ${target}: it holds the rows of another lake; name another target, or hand it over with --adopt`,
    )
  return claim.marks
}

const FOLDER = '_loaded'

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
 * @throws {ToolkitError} `TARGET_REFUSED` for a lake or a folder of another sink, `TARGET_OF_ANOTHER_LAKE`, of the work with it
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

  const claim = async (lakeClaim: LakeClaim, isShown: boolean): Promise<void> => {
    const { lake, onAdopted } = lakeClaim
    const what = `folder "${directory}"`
    const found = await markOf()
    if (!isToMark(lakeClaim, found, what) || lake === null) return
    if (found !== undefined) await storage.replace(LAKE_MARK, `${lake}\n`)
    // Another lake may have been first.
    else if (!(await storage.create(LAKE_MARK, `${lake}\n`))) isToMark(lakeClaim, await markOf(), what)
    if (isShown) onAdopted?.()
  }

  return {
    ...sink,

    async open(run, lent) {
      const opened = await sink.open(run, lent)
      return {
        ...opened,
        async commit(files) {
          await opened.commit(files)
          const taken = lent?.taken === undefined ? '' : `${lent.taken}\n`
          await storage.create(`${FOLDER}/${run}`, `${sink.name}\n${taken}`)
        },
      }
    },

    async deliveredRuns(lent) {
      const marks = await storage.list(FOLDER)
      await refuseLake(directory)
      await refuseOthers(marks[0]?.path)
      if (lent?.claim !== undefined) await claim(lent.claim, marks.length > 0)
      return new Set(marks.map(({ path }) => path.slice(FOLDER.length + 1)))
    },
  }
}
