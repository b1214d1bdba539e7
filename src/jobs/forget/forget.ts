/** `forget`: companies and persons erased from a lake, in one call. */

import { orInterrupted, ToolkitError } from '../../core/errors.ts'
import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'
import { exactId } from '../../support/exact-numbers.ts'
import { forgetInLake } from './forget-in-lake.ts'
import type { ForgetSummary } from './forget-summary.ts'

/** Options of `forget`. */
export interface ForgetOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** InternalIds of companies: their records go, and they as entities of others' relations. @default none */
  readonly companies?: readonly (bigint | number)[] | undefined
  /** InternalIds of persons, who go as entities of all relations. @default none */
  readonly persons?: readonly (bigint | number)[] | undefined
  /** OrgNo or NationalIdentificationNumber of companies and persons that the lake knows. @default none */
  readonly nationalIds?: readonly string[] | undefined
  /** Country of those that national ids mean, ISO 3166-1 alpha-2. @default any */
  readonly country?: string | undefined
  /** Whether a later load may bring the same ids back. @default false */
  readonly allowLater?: boolean | undefined
  /** Changes nothing and reports what would be done. @default false */
  readonly dryRun?: boolean | undefined
  /** A catalog that shows the lake's Iceberg tables. @default none */
  readonly catalog?: CatalogOptions | undefined
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /** The most that files of a lake in a bucket take on this machine's disk at once, in bytes. @default FIRMLAKE_CACHE_BYTES */
  readonly localBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Each refusal has a mark in every snapshot. */
const MOST_IDS = 10_000

const checked = ({ companies = [], persons = [], nationalIds = [] }: ForgetOptions): void => {
  const ids = companies.length + persons.length + nationalIds.length
  if (ids >= 1 && ids <= MOST_IDS) return
  throw new ToolkitError('USAGE', `Cannot forget ${ids} ids: expected 1 to ${MOST_IDS} in one call`)
}

/**
 * Erases companies and persons from a lake: from its tables with their history, the quarantine, publications, serving
 * indexes and batch files. Files that held something of theirs are written again, and older snapshots are gone. Killed at
 * any moment, the same call completes it.
 *
 * @returns what was found and removed, without personal data, what is left for a person to decide on, and what was not reached
 * @throws {ToolkitError} `USAGE`, `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `RUN_LIVE` while other runs are at work,
 *   `IDS_UNKNOWN`, `COMMIT_CONFLICT`, `LAKE_DAMAGED`, `FORGET_IMPOSSIBLE`, `DISK_FULL`, `WRITE_FAILED`, `INTERRUPTED`
 * @example
 * import { convert, forget } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshot, later } = await forget({ lake: './lake', companies: [1] })
 * console.log(snapshot, later) // 2 refused
 */
export const forget = (options: ForgetOptions): Promise<ForgetSummary> => {
  checked(options)
  const { companies = [], persons = [], nationalIds = [], allowLater = false, dryRun = false } = options
  const { signal } = options
  return orInterrupted('The forget', signal, () =>
    forgetInLake({
      ...options,
      ids: { companies: new Set(companies.map(exactId)), persons: new Set(persons.map(exactId)) },
      nationalIds,
      later: allowLater ? 'allowed' : 'refused',
      dryRun,
    }),
  )
}
