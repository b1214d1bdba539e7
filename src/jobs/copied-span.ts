/** Snapshots that a copy takes, and what its target has already. */

import { ToolkitError } from '../core/errors.ts'
import { snapshotPath } from '../lake/files/layout.ts'
import {
  holdsRun,
  listManifest,
  type ManifestListing,
  readKnownRoot,
  readRoot,
} from '../manifest/snapshots/snapshots.ts'
import type { CopyOptions } from '../options/interfaces.ts'
import { storageOf } from '../storage/open-storage.ts'

type SpanRequest = Pick<CopyOptions, 'lake' | 'to' | 'snapshot' | 'snapshots'>

interface Span {
  /** Numbers that the copy shall have, ascending; the last one is its newest. */
  readonly numbers: readonly number[]
  /** Snapshots that the copy does not have, or not to the end. */
  readonly missing: readonly number[]
}

const NOTHING: ManifestListing = { snapshots: [], records: [], oldest: 1, others: [] }

/** The contents of a place that may hold no lake yet. */
const listingIfAny = async (lake: string): Promise<ManifestListing> => {
  try {
    return await listManifest(lake)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'LAKE_NOT_FOUND') return NOTHING
    throw error
  }
}

const refused = ({ lake, to }: SpanRequest, reason: string): ToolkitError =>
  new ToolkitError('TARGET_REFUSED', `Cannot copy lake "${lake}" to "${to}": ${reason}`, { lake, to })

const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`)

/** @throws {ToolkitError} TARGET_REFUSED where one stands in the other */
export const checkPlaces = (request: SpanRequest): void => {
  const [from, to] = [storageOf(request.lake).uri, storageOf(request.to).uri]
  if (isWithin(from, to) || isWithin(to, from))
    throw refused(request, 'one stands in the other, expected a place of its own')
}

/** A snapshot that both have must be one and the same: else the place holds another lake, or one that went its own way. */
const checkSame = async (request: SpanRequest, numbers: readonly number[]): Promise<void> => {
  for (const number of numbers) {
    const [ours, theirs] = await Promise.all([
      storageOf(request.lake).read(snapshotPath(number)),
      storageOf(request.to).read(snapshotPath(number)),
    ])
    if (theirs !== null && ours !== null && !ours.equals(theirs))
      throw refused(request, `it has another snapshot ${number}; expected an earlier copy, or a new place`)
  }
}

/** @throws {ToolkitError} TARGET_REFUSED where no snapshot of the place tells that it is a copy of the lake */
const checkKin = async (request: SpanRequest, newest: number): Promise<void> => {
  const { run } = await readKnownRoot(request.to, newest)
  if (await holdsRun(request.lake, await readRoot(request.lake), run)) return
  throw refused(
    request,
    `the lake does not know the run of its snapshot ${newest}; expected an earlier copy, or a new place`,
  )
}

const upTo = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)

/**
 * A copy never has a hole: between what it has and what it gets all is copied that the lake still has.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`; `TARGET_REFUSED` where the place holds
 *   another lake, or a newer copy
 */
export const readSpan = async (request: SpanRequest): Promise<Span> => {
  const { lake, to, snapshots = 1 } = request
  const { snapshot: last } = await readRoot(lake, request.snapshot)
  const { oldest } = await listManifest(lake)
  const there = await listingIfAny(to)
  const newest = there.snapshots.at(-1) ?? 0
  if (newest > last)
    throw refused(request, `it has snapshot ${newest} already, expected none after snapshot ${last}`)
  const oldestAsked = snapshots === 'all' ? oldest : Math.max(oldest, last - snapshots + 1)
  const first = Math.max(oldest, there.oldest, Math.min(oldestAsked, there.snapshots[0] ?? oldestAsked))
  const numbers = upTo(first, last)
  const [held, recorded] = [new Set(there.snapshots), new Set(there.records)]
  const common = numbers.filter((number) => held.has(number))
  await checkSame(request, common)
  if (newest > 0 && common.length === 0) await checkKin(request, newest)
  // A copy that was killed between the two has a snapshot without its record.
  return { numbers, missing: numbers.filter((number) => !held.has(number) || !recorded.has(number)) }
}

/** The first of the snapshots that follow each other up to the newest one. */
export const firstOfRow = ({ snapshots }: ManifestListing): number => {
  const held = new Set(snapshots)
  let first = snapshots.at(-1) ?? 1
  while (held.has(first - 1)) first -= 1
  return first
}
