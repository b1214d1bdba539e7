/** Chooses the batch files of the service's listing that are to be pulled, and their order. Pure. */

import { ToolkitError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import { ALREADY_LOADED, discardedText } from '../../core/source-kinds.ts'
import { loadedPartitions, loadedSources, sourceKey } from '../../manifest/form/sources.ts'
import type { BatchFilesJob } from '../../run/run-plan.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'

export type BatchSelection = BatchFilesJob['selection']

export interface ChosenFiles {
  /** Oldest first: of a company in several files, the newest version takes precedence. */
  readonly files: readonly ListedBatchFile[]
  /** Chosen, but in the lake already. */
  readonly held: readonly ListedBatchFile[]
  /** Chosen, but their load was discarded. */
  readonly discarded: readonly ListedBatchFile[]
  /** Chosen, but with an id that no address can name: half a character (a lone surrogate) has no UTF-8; `''` for none. */
  readonly unnameable: readonly ListedBatchFile[]
}

const unnameableReason = ({ id }: Pick<ListedBatchFile, 'id'>): string =>
  id === ''
    ? 'the listing gives it no id'
    : 'its id in the listing holds half a character, and no address can name it'

/** Files that are not pulled, and why. Names read the same on every terminal: half a character is its escape. */
export const skippedFiles = ({
  held = [],
  discarded = [],
  unnameable,
}: Pick<ChosenFiles, 'unnameable'> & Partial<ChosenFiles>) => [
  ...held.map(({ name }) => ({ source: name, reason: ALREADY_LOADED })),
  ...discarded.map(({ name }) => ({ source: name, reason: discardedText() })),
  ...unnameable.map((file) => ({
    source: JSON.stringify(file.name).slice(1, -1),
    reason: unnameableReason(file),
  })),
]

/** Why there is nothing to pull; the lake holds all that there is only where it does. */
export const nothingReason = ({
  held,
  discarded,
  unnameable,
}: Pick<ChosenFiles, 'held' | 'discarded' | 'unnameable'>): string => {
  if (discarded.length > 0)
    return `the loads of ${discarded.length} ${discarded.length === 1 ? 'file' : 'files'} were discarded (--again loads them)`
  const files = `${held.length} ${held.length === 1 ? 'file' : 'files'}`
  if (held.length > 0 && unnameable.length > 0)
    return `the lake holds the other ${files} that the service offers`
  if (held.length > 0) return `the lake holds the ${files} that the service offers`
  return unnameable.length > 0
    ? 'no file of the listing can be asked for'
    : 'the service offers no such batch file'
}

/**
 * Batch files of a service that a lake holds whole, by id.
 *
 * @param service origin of the service
 */
const heldFiles = (
  snapshot: Pick<Snapshot, 'partitions' | 'merged'> | null,
  service: string,
): ReadonlyMap<string, ReadonlySet<number>> => {
  const loaded = loadedSources(snapshot)
  const held = new Map<string, Set<number>>()
  for (const { content, source } of snapshot ? loadedPartitions(snapshot) : []) {
    const { batch, bytes, sha256 } = source
    if (batch?.service !== service || !loaded.has(sourceKey(content, sha256))) continue
    const sizes = held.get(batch.id) ?? new Set()
    held.set(batch.id, sizes.add(bytes))
  }
  return held
}

const fits = (file: ListedBatchFile, selection: BatchSelection): boolean => {
  if (selection.kind === 'ids') return selection.ids.includes(file.id)
  const { content, countries } = selection
  return (
    (content === undefined || file.content === content) &&
    (countries === undefined || countries.includes(file.countryCode?.toUpperCase() ?? ''))
  )
}

/** As listed where the listing does not date all of them. */
const oldestFirst = (files: readonly ListedBatchFile[]): readonly ListedBatchFile[] => {
  const dated = files.map((file) => ({ file, made: Date.parse(file.createdAt ?? '') }))
  return dated.some(({ made }) => Number.isNaN(made))
    ? files
    : dated.sort((a, b) => a.made - b.made).map(({ file }) => file)
}

/** @throws {ToolkitError} SERVICE_NOT_FOUND naming the ids that are not listed */
const checkIds = (ids: readonly string[], listed: readonly ListedBatchFile[]): void => {
  const known = new Set(listed.map(({ id }) => id))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length === 0) return
  const names = unknown.map((id) => `"${id}"`).join(', ')
  throw new ToolkitError(
    'SERVICE_NOT_FOUND',
    `Cannot pull batch ${unknown.length === 1 ? 'file' : 'files'} ${names}: the service does not list ` +
      `${unknown.length === 1 ? 'it' : 'them'}, see "firmlake batches list"`,
    { ids: unknown.join(' ') },
  )
}

const partition = <T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] => [
  items.filter(test),
  items.filter((item) => !test(item)),
]

/**
 * Files are held by the same service, the same id and, where the listing says it, the same size. What only the
 * bytes can show, the run finds out when it has them.
 *
 * @throws {ToolkitError} SERVICE_NOT_FOUND
 */
export const chooseBatchFiles = (
  listed: readonly ListedBatchFile[],
  selection: BatchSelection,
  lake: {
    readonly snapshot: Pick<Snapshot, 'partitions' | 'merged'> | null
    readonly service: string
    /** Batch files of discarded loads, by id. @default none */
    readonly discarded?: ReadonlySet<string> | undefined
    /** Includes files that the lake already holds. */
    readonly again: boolean
  },
): ChosenFiles => {
  if (selection.kind === 'ids') checkIds(selection.ids, listed)
  const once = [...new Map(listed.toReversed().map((file) => [file.id, file])).values()].reverse()
  const sizes = lake.again ? new Map<string, ReadonlySet<number>>() : heldFiles(lake.snapshot, lake.service)
  const isHeld = ({ id, sizeBytes }: ListedBatchFile): boolean => {
    const known = sizes.get(id)
    return known !== undefined && (sizeBytes === undefined || known.has(sizeBytes))
  }
  const [chosen, unnameable] = partition(
    once.filter((file) => fits(file, selection)),
    ({ id }) => id.isWellFormed(),
  )
  const [held, missing] = partition(chosen, isHeld)
  const [discarded, files] = partition(missing, ({ id }) => !lake.again && lake.discarded?.has(id) === true)
  return { files: oldestFirst(files), held, discarded, unnameable }
}
