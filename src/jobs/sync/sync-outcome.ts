/** The outcome of a sync, by its findings: the companies that its search lacks, and those that it lists and that did not come. */

import type { Listing } from '../../commit/find-gone.ts'
import type { PullEntry } from '../../core/partition.ts'
import { type NotDelivered, notDelivered } from '../../run/opened-job.ts'
import { type AskedService, listingOf } from '../pull/ask-listed.ts'
import { missingFrom } from '../pull/missing-records.ts'
import type { PullPlan, PullSettings } from '../pull/pull-settings.ts'
import type { SyncFindings } from './find-changes.ts'

/** The listing of a sync: which companies it lacks is known from the comparison. */
export const syncListing = (
  service: AskedService,
  settings: PullSettings,
  entry: PullEntry,
  { vanished, unchanged, changed }: SyncFindings,
  signal?: AbortSignal,
): Listing | undefined =>
  listingOf(service, settings, entry, {
    signal,
    lacking: vanished && {
      ids: vanished.map(BigInt),
      held: unchanged + changed.length + vanished.length,
    },
  })

/** The records of a sync that did not come. @param fetched how many companies came in full */
export const missingFromSync = (
  entry: PullEntry,
  settings: PullSettings,
  plan: PullPlan,
  findings: SyncFindings,
  fetched: number,
): NotDelivered | undefined =>
  notDelivered(findings.new.length + findings.changed.length, fetched) ?? missingFrom(entry, settings, plan)
