/** `records`: the current records of a lake as they came, in one call. */

import type { Content } from '../../contract/objects.ts'
import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import { ToolkitError } from '../../core/errors.ts'
import { queryMemory } from '../../core/memory-shares.ts'
import { withAllCompanies } from '../../lake/views/current-versions.ts'
import { readAllListed } from '../../manifest/snapshots/snapshot-root.ts'
import { readRoot } from '../../manifest/snapshots/snapshots.ts'
import type { InPlaceOptions } from '../../options/interfaces.ts'
import { type RestoreRequest, restoreLines, textsOf } from '../../restore/restore.ts'
import { exactId } from '../../support/exact-numbers.ts'

/** Options of `records`. */
export interface RecordsOptions extends InPlaceOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** @default both, companies first */
  readonly content?: Content | undefined
  /** Only the records of these InternalIds. @default all */
  readonly ids?: readonly (bigint | number)[] | undefined
  /** Also companies that the service does not list any more. @default false */
  readonly all?: boolean | undefined
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** How far the fetch of a lake's files from a bucket is. */
  readonly onFetch?: RestoreRequest['onFetch']
  /** Called with the cost of reading the lake, when all records were read. */
  readonly onRead?: RestoreRequest['onRead']
}

const OPTIONS: OptionTypes<RecordsOptions> = {
  lake: is.lake,
  content: is.oneOf('companies', 'relations'),
  ids: is.ids,
  ...each(is.flag, 'all', 'checked'),
  memoryBytes: is.amount,
  ...each(is.count, 'snapshot', 'threads'),
  ...each(is.callback, 'onFetch', 'onRead'),
  signal: is.signal,
}

/**
 * Restores the current version of every record, one JSON text each, equal as data to what came in; what the contract says
 * is omitted is left out.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `LAKE_DAMAGED`, `USAGE`, `INTERRUPTED`
 * @example
 * import { convert, records } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * for await (const text of records({ lake: './lake', content: 'companies', ids: [1] }))
 *   console.log(JSON.parse(text).BasicDetails.CompanyName) // Company 1
 */
export async function* records(options: RecordsOptions): AsyncGenerator<string> {
  checkOptions('records', OPTIONS, options)
  for await (const lines of recordLines(options)) yield* textsOf(lines)
}

/** The same as JSON Lines: whole lines with their ends, many at once. The bytes stand until the next ones are asked for. */
export async function* recordLines(options: RecordsOptions): AsyncGenerator<Buffer> {
  const { lake, content, ids, all = false, snapshot, memoryBytes, threads, signal, onFetch, onRead } = options
  try {
    const listed = await readAllListed(
      lake,
      await readRoot(lake, snapshot),
      ({ contents }) => content === undefined || contents?.includes(content) === true,
    )
    yield* restoreLines({
      ...{ lake, content, threads, signal, onFetch, onRead },
      // All of the records need whole files: those are hashed.
      inPlace: ids !== undefined && options.checked !== true,
      snapshot: all ? withAllCompanies(listed) : listed,
      ids: ids?.map(exactId),
      memoryBytes: queryMemory(memoryBytes),
    })
  } catch (error) {
    if (!signal?.aborted) throw error
    throw new ToolkitError('INTERRUPTED', 'The records were not read to their end', {}, error)
  }
}
