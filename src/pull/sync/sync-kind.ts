/** A sync as a kind of job: what is new or changed is found by its run, or before it where many machines work on it. */

import type { WholeListing } from '../../commit/find-gone.ts'
import { inLake, RUNS_FOLDER } from '../../lake/files/layout.ts'
import type { JobOfRun } from '../../manifest/runs/run-files.ts'
import { makeLake } from '../../manifest/runs/runs.ts'
import { readAllListed } from '../../manifest/snapshots/snapshot-root.ts'
import { rootIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { JobKind, KindOptions } from '../../run/job-kind.ts'
import { type FactsOf, notDelivered } from '../../run/opened-job.ts'
import type { SyncJob } from '../../run/run-plan.ts'
import { sharesOf } from '../../run/run-tools.ts'
import { withScratch } from '../../run/scratch.ts'
import { listingOf } from '../windows/ask-listed.ts'
import { missingFrom } from '../windows/missing-records.ts'
import { receivedOf } from '../windows/open-windows.ts'
import { windowsOfRun } from '../windows/plan-pull.ts'
import {
  askedService,
  type Pulled,
  placesOfPart,
  prepareSearch,
  unitsOfWindows,
} from '../windows/pull-kind.ts'
import { rememberParameters } from '../windows/pull-settings.ts'
import {
  changeWindows,
  findChanges,
  findingsOfRun,
  findingsText,
  listChanges,
  openSync,
  type SyncFindings,
  syncEntry,
} from './find-changes.ts'

/** The outcome of a sync. */
export interface Synced extends Pulled {
  readonly findings: SyncFindings
  /** Companies fetched in full. */
  readonly fetched: number
}

/** The companies that a sync does not find any more, among those that the lake has of the search. */
const lackingOf = ({ vanished, unchanged, changed }: SyncFindings): WholeListing['lacking'] =>
  vanished && { ids: vanished.map(BigInt), held: unchanged + changed.length + vanished.length }

const factsOf = async (
  run: JobOfRun,
  job: SyncJob,
  service: KindOptions['service'],
  signal?: AbortSignal,
): Promise<FactsOf<Synced>> => {
  const asked = askedService(job, service)
  const plan = await windowsOfRun(run)
  const findings = await findingsOfRun(run)
  return (own, recorded) => {
    const fetched = receivedOf(own)
    const entry = recorded ?? syncEntry(asked, run, job, plan, findings)
    return {
      ...{ entry, plan, windows: [], findings, fetched },
      missing:
        notDelivered(findings.new.length + findings.changed.length, fetched) ?? missingFrom(entry, job, plan),
      listing: listingOf(asked, job, entry, { signal, lacking: lackingOf(findings) }),
    }
  }
}

export const syncKind: JobKind<SyncJob, Synced> = {
  prepare: (job, options) =>
    prepareSearch(job, options, async (service, windows) => {
      const { lake, concurrency, signal, mode } = options
      const root = await rootIfAny(lake)
      const snapshot = root && (await readAllListed(lake, root))
      await makeLake(lake, mode)
      const listing = { concurrency, signal, memoryBytes: sharesOf(options).engineBytes }
      // Below the lake's folder on this machine: what compares the list with the lake may open nothing else.
      const findings = await withScratch(
        (scratch) => listChanges(service, { lake, run: '', scratch }, job, windows, snapshot, listing),
        inLake(lake, RUNS_FOLDER),
      )
      return { units: unitsOfWindows(changeWindows(job, findings)), strings: [findingsText(findings)] }
    }),
  open: async (run, job, _limits, options, part) => {
    const { concurrency, signal, onSync } = options
    const service = rememberParameters(await options.service(job.url))
    const plan = await windowsOfRun(run)
    run.keep()
    const isWhole = part === undefined
    if (isWhole) onSync?.({ kind: 'planned', plan, resumed: run.number > 1 })
    const pulling = { concurrency, signal, onEvent: onSync, memoryBytes: sharesOf(options).engineBytes }
    if (isWhole) await findChanges(service, run, job, plan, pulling)
    const findings = await findingsOfRun(run)
    if (isWhole) onSync?.({ kind: 'compared', findings })
    const { sources } = await openSync(service, run, job, findings, pulling, placesOfPart(part))
    return { sources, facts: await factsOf(run, job, options.service, signal) }
  },
  facts: factsOf,
  windowNames: async (run, job) => changeWindows(job, await findingsOfRun(run)).map(({ name }) => name),
}
