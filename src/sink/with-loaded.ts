/** A sink of files that knows which runs it shows: an empty file `_loaded/<run>` for each, made when all else stands. */

import type { Sink } from '../core/sink.ts'
import { storageOf } from '../storage/open-storage.ts'

const FOLDER = '_loaded'

/** @param directory the folder of the sink's files */
export const withLoaded = (sink: Sink, directory: string): Sink & Required<Pick<Sink, 'loaded'>> => {
  const storage = storageOf(directory)
  let run: string | undefined
  return {
    ...sink,

    async open(id) {
      run = id
      await sink.open(id)
    },

    async commit(files) {
      await sink.commit(files)
      if (run !== undefined) await storage.create(`${FOLDER}/${run}`, '')
    },

    async loaded() {
      const marks = await storage.list(FOLDER)
      return new Set(marks.map(({ path }) => path.slice(FOLDER.length + 1)))
    },
  }
}
