/** Opens a snapshot for a forget: engine, ids and those that national ids mean. */

import type { Snapshot } from '../../core/partition.ts'
import { defaultLocalBytes } from '../../lake/lake/files-in-turn.ts'
import type { ForgetInLakeOptions, ForgetSummary } from './forget-summary.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, makeIdTable, withForgetWork } from './forget-work.ts'
import { resolveIds } from './resolve-ids.ts'
import type { Rewritten } from './rewrite-lake.ts'

/** Looks up national ids and then uses all ids. */
const withIds = async <T>(
  work: ForgetWork,
  { nationalIds, country }: ForgetInLakeOptions,
  use: (work: ForgetWork, unresolved: number) => Promise<T>,
): Promise<T> => {
  const { ids, unresolved } = await resolveIds(work, nationalIds, country)
  await makeIdTable(work.session, COMPANY_IDS, ids.companies)
  await makeIdTable(work.session, ENTITY_IDS, [...ids.companies, ...ids.persons])
  const isEntity = (id: bigint): boolean => ids.companies.has(id) || ids.persons.has(id)
  return use({ ...work, ids, isEntity }, unresolved)
}

export type Found = Pick<ForgetSummary, 'companies' | 'persons' | 'unresolved' | 'files' | 'linesCleared'>

export const foundOf = (
  { ids }: ForgetWork,
  { files, linesCleared }: Rewritten,
  unresolved: number,
): Found => ({
  companies: ids.companies.size,
  persons: ids.persons.size,
  ...{ unresolved, files, linesCleared },
})

const workOptions = (options: ForgetInLakeOptions, snapshot: Snapshot, scratch: string) => {
  const { lake, ids, memoryBytes, threads, signal, localBytes = defaultLocalBytes(lake) } = options
  return { lake, ids, memoryBytes, threads, signal, localBytes, snapshot, scratch }
}

/** @param scratch folder of this machine for what is being made */
export const lookThrough = <T>(
  options: ForgetInLakeOptions,
  snapshot: Snapshot,
  scratch: string,
  use: (work: ForgetWork, unresolved: number) => Promise<T>,
): Promise<T> =>
  withForgetWork(workOptions(options, snapshot, scratch), (opened) => withIds(opened, options, use))
