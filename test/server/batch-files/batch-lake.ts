/** A small lake with an open serving index, for batch files. Knows nothing of vitest. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServingIndex } from '../../../src/server/serving-index/session-pool.ts'
import { Workbench } from '../../load/loaded-lake.ts'
import { loadServed, madeIndex } from '../serving-index/served-lake.ts'

const company = (id: number, country: string | undefined, more: object = {}) => ({
  BasicDetails: { InternalId: id, ...(country !== undefined && { CountryCode: country }) },
  ...more,
})
const relations = (id: number, country: string | undefined) => ({
  InternalId: id,
  ...(country !== undefined && { CountryCode: country }),
  Parents: [{ InternalId: 1000 + id }],
})

/** Five Swedish companies, one Norwegian, one of a country with an odd code, one of none; two relations. */
const COMPANIES = [
  company(5, 'SE'),
  company(3, 'SE', { Score: 1.5 }),
  company(1, 'SE'),
  company(2, 'SE'),
  company(9, 'SE'),
  company(4, 'NO'),
  company(7, '../x'),
  company(8, undefined),
]
const RELATIONS = [relations(1, 'SE'), relations(8, undefined)]

export interface BatchLake {
  readonly index: ServingIndex
  /** A new, empty folder for batch files: nothing else of a lake is needed. */
  readonly newLake: () => Promise<string>
  readonly close: () => Promise<void>
}

export const openBatchLake = async (relationsLines: readonly object[] = RELATIONS): Promise<BatchLake> => {
  const bench = await Workbench.open()
  const folders: string[] = []
  const { index } = await madeIndex(
    await loadServed(
      bench,
      { content: 'companies', lines: COMPANIES },
      { content: 'relations', lines: relationsLines },
    ),
  )
  return {
    index,
    newLake: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
      folders.push(folder)
      return folder
    },
    close: async () => {
      await index.close()
      await bench.close()
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The same index as if it were of another snapshot. */
export const ofSnapshot = (index: ServingIndex, snapshot: number): ServingIndex => ({
  ...index,
  description: { ...index.description, snapshot },
})
