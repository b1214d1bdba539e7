/** Files of a lake whose hashes are not at hand, where DuckDB can read them. */

import type { PlaceOf } from '../../lake/files/fetch-tables.ts'
import { inLake } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'

/** Files, some at a time: of a folder where they stand, of a bucket copies, one after the other. */
export const eachPlaced = async <File extends { readonly path: string }>(
  lake: string,
  files: readonly File[],
  atOnce: number,
  use: (some: readonly File[], placeOf: PlaceOf) => Promise<void>,
): Promise<void> => {
  const { isRemote, examine } = storageOf(lake)
  const whereTheyAre: PlaceOf = (path) => inLake(lake, path)
  if (isRemote)
    for (const file of files) {
      const read = await examine(file.path, {}, async (_, local) => {
        await use([file], () => local)
        return true
      })
      // DuckDB's error says which file is missing.
      if (read === null) await use([file], whereTheyAre)
    }
  else for (let at = 0; at < files.length; at += atOnce) await use(files.slice(at, at + atOnce), whereTheyAre)
}
