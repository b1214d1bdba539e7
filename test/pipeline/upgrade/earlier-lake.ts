/** Lakes that earlier releases made: test/fixtures/lakes. */

import { cp, readdir, readFile } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { LAKE_ID_PATH } from '../../../src/lake/lake/layout.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Bench, openBench } from '../batch-bench.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/lakes')

export const EARLIER_LAKES = {
  '1-first': { format: 1, snapshots: 3, companies: 5 },
  '1-hashed': { format: 1, snapshots: 3, companies: 5 },
  '2-parts': { format: 2, snapshots: 4, companies: 5 },
  '2-views': { format: 2, snapshots: 3, companies: 5 },
  '2-history': { format: 2, snapshots: 3, companies: 13 },
} as const
export type EarlierLake = keyof typeof EARLIER_LAKES
export const EARLIER_NAMES = Object.keys(EARLIER_LAKES) as readonly EarlierLake[]

/** A copy of one, with the files that it was made from beside it. */
export const openEarlier = async (name: EarlierLake): Promise<Bench> => {
  const folder = await temporaryFolder()
  await cp(join(FOLDER, 'in'), folder, { recursive: true })
  await cp(join(FOLDER, name), join(folder, 'lake'), { recursive: true })
  return openBench(folder)
}

/** SHA-256 of each file below a folder, by its path there; without the lake's id, which a lake keeps once it has one. */
export const filesBelow = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((one) => one.isFile() && one.name !== basename(LAKE_ID_PATH))
    .map((one) => join(one.parentPath, one.name))
  return new Map(
    await Promise.all(
      paths
        .sort()
        .map(
          async (path) =>
            [relative(folder, path).split(sep).join('/'), sha256Of(await readFile(path))] as const,
        ),
    ),
  )
}
