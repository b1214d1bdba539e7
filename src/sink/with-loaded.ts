/**
 * A sink of files that knows which runs it shows: a file `_loaded/<run>` for each, made when all else stands, with the
 * name of the sink in it.
 */

import { ToolkitError } from '../core/errors.ts'
import type { Sink } from '../core/sink.ts'
import { MANIFEST_FOLDER } from '../lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'

const FOLDER = '_loaded'

/** @param directory the folder of the sink's files */
export const withLoaded = (sink: Sink, directory: string): Sink & Required<Pick<Sink, 'loaded'>> => {
  const storage = storageOf(directory)
  const mark = `${sink.name}\n`
  let run: string | undefined

  /** A lake's own files stand where a sink's would; a folder of another format shows runs that this one lacks. */
  const refuseOthers = async (aMark: string | undefined): Promise<void> => {
    const start = `Cannot deliver runs to "${directory}"`
    if (await storage.hasFolder(MANIFEST_FOLDER))
      throw new ToolkitError('TARGET_REFUSED', `${start}: it is a lake, expected a folder of its own`)
    const other = aMark === undefined ? null : await storage.read(aMark)
    if (other !== null && other.length > 0 && String(other) !== mark)
      throw new ToolkitError(
        'TARGET_REFUSED',
        `${start} as "${sink.name}": it has runs as "${String(other).trim()}", expected a folder for each format`,
      )
  }

  return {
    ...sink,

    async open(id) {
      run = id
      await sink.open(id)
    },

    async commit(files) {
      await sink.commit(files)
      if (run !== undefined) await storage.create(`${FOLDER}/${run}`, mark)
    },

    async loaded() {
      const marks = await storage.list(FOLDER)
      await refuseOthers(marks[0]?.path)
      return new Set(marks.map(({ path }) => path.slice(FOLDER.length + 1)))
    },
  }
}
