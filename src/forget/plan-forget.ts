/** Opens a snapshot for a forget, with the ids that national ids mean, and does its dry run. */

import { ToolkitError } from '../core/errors.ts'
import type { Snapshot } from '../core/partition.ts'
import { defaultLocalBytes } from '../lake/files/fetch-tables.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { refusedBy } from '../manifest/form/forgotten.ts'
import { listMade } from '../manifest/gc/lake-files.ts'
import { listRuns } from '../manifest/runs/runs.ts'
import { listSnapshots, newestRoot } from '../manifest/snapshots/snapshots.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { listPublications, publicationText } from './finish-forget.ts'
import { type ForgetInLakeOptions, type ForgetSummary, notReached } from './forget-summary.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, makeIdTable, withForgetWork } from './forget-work.ts'
import { resolveIds } from './resolve-ids.ts'
import { readHeldLoad, withHeld } from './rewrite-held.ts'
import { type Rewritten, rewriteLake } from './rewrite-lake.ts'

export const planForget = async (
  options: ForgetInLakeOptions,
  snapshot: Snapshot,
): Promise<ForgetSummary> => {
  const { lake, nationalIds, catalog } = options
  const scratch = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  const load = await readHeldLoad(lake)
  const dead = (await listRuns(lake, { now: new Date() })).filter(
    ({ run, state }) => state === 'gone' && run !== load?.held.run,
  )
  try {
    const found = await lookThrough(options, withHeld(snapshot, load), scratch, async (work, unresolved) => {
      const rewritten = await rewriteLake(work, nationalIds)
      return { ...(await foundOf(work, rewritten, unresolved, [])), records: rewritten.stripped }
    })
    return {
      kind: 'planned',
      snapshot: snapshot.snapshot,
      ...found,
      completed: [],
      snapshots: await listSnapshots(lake),
      runs: dead.map(({ run }) => run),
      made: (await listMade(lake)).map(({ path }) => path),
      published: (await listPublications(options)).map(publicationText),
      later: options.later,
      notReached: notReached(lake, catalog !== undefined),
    }
  } finally {
    await removeIfThere(scratch)
  }
}

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

export type Found = Pick<
  ForgetSummary,
  'companies' | 'persons' | 'unknown' | 'unresolved' | 'files' | 'recordsStripped' | 'linesCleared'
>

/** Ids that the lake has no rows of, tells nothing of, and was never told to forget. */
const unknownOf = async (
  { lake, ids: { companies, persons } }: ForgetWork,
  known: ReadonlySet<bigint>,
): Promise<number> => {
  const refused = refusedBy((await newestRoot(lake))?.refusals)
  return [...companies, ...persons].filter((id) => !known.has(id) && !refused?.isEntity(id)).length
}

/** @throws {ToolkitError} `IDS_UNKNOWN` where none of the ids is known: a slip of the pen must not pass for an erasure */
export const foundOf = async (
  work: ForgetWork,
  { files, linesCleared, stripped, known }: Rewritten,
  unresolved: number,
  completed: readonly number[],
): Promise<Found> => {
  const { lake, ids } = work
  const [companies, persons] = [ids.companies.size, ids.persons.size]
  const unknown = await unknownOf(work, known)
  const isNobody = unknown === companies + persons && files.length === 0
  // The completed forgets may have been about the same ids.
  if (isNobody && completed.length === 0)
    throw new ToolkitError(
      'IDS_UNKNOWN',
      `Cannot forget in lake "${lake}": none of the ${unknown + unresolved} ids is in its newest snapshot; nothing was changed (older snapshots were not searched, "firmlake gc --keep 1" removes them)`,
      { lake, ids: unknown + unresolved },
    )
  return { companies, persons, unknown, unresolved, files, recordsStripped: stripped.length, linesCleared }
}

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
