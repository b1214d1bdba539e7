/** The dry run of a forget: what it would do, without writing anything. */

import type { Snapshot } from '../../core/partition.ts'
import { inLake, RUNS_FOLDER } from '../../lake/files/layout.ts'
import { listMade } from '../../manifest/gc/lake-files.ts'
import { listRuns } from '../../manifest/runs/runs.ts'
import { listSnapshots } from '../../manifest/snapshots/snapshots.ts'
import { discard } from '../../support/durable-files.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { listPublications, publicationText } from './finish-forget.ts'
import { type ForgetInLakeOptions, type ForgetSummary, notReached } from './forget-summary.ts'
import { foundOf, lookThrough } from './look-through.ts'
import { rewriteLake } from './rewrite-lake.ts'

export const planForget = async (
  options: ForgetInLakeOptions,
  snapshot: Snapshot,
): Promise<ForgetSummary> => {
  const { lake, nationalIds, catalog } = options
  const scratch = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  const dead = (await listRuns(lake, { now: new Date() })).filter(({ state }) => state === 'gone')
  try {
    const found = await lookThrough(options, snapshot, scratch, async (work, unresolved) =>
      foundOf(work, await rewriteLake(work, nationalIds), unresolved, []),
    )
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
    await discard(scratch)
  }
}
