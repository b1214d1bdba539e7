/** Files of a lake whose hashes are not at hand, where DuckDB can read them. */

import type { PlaceOf } from '../../lake/files/fetch-tables.ts'
import { inLake } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'

/** Files, some at a time: of a folder where they stand, of a bucket copies, one after the other. @returns what each call gives */
export const eachPlaced = async <File extends { readonly path: string }, T>(
  lake: string,
  files: readonly File[],
  atOnce: number,
  use: (some: readonly File[], placeOf: PlaceOf) => Promise<T>,
): Promise<readonly T[]> => {
  const given: T[] = []
  const { isRemote, examine } = storageOf(lake)
  if (isRemote)
    for (const file of files) {
      const one = await examine(file.path, {}, async (_, local) => [await use([file], () => local)] as const)
      // DuckDB's error says which file is missing.
      given.push(one === null ? await use([file], (path) => inLake(lake, path)) : one[0])
    }
  else
    for (let at = 0; at < files.length; at += atOnce)
      given.push(await use(files.slice(at, at + atOnce), (path) => inLake(lake, path)))
  return given
}
