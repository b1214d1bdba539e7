/** `records`: the current records of a lake as they came, in one call. */

import { ToolkitError } from '../core/errors.ts'
import { queryMemory } from '../core/memory-shares.ts'
import { withAllCompanies } from '../lake/views/current-versions.ts'
import { readAllListed } from '../manifest/snapshots/snapshot-root.ts'
import { readRoot } from '../manifest/snapshots/snapshots.ts'
import { readCall } from '../options/entry.ts'
import type { RecordsOptions } from '../options/interfaces.ts'
import { RECORDS } from '../options/read-jobs.ts'
import { restoreLines, stringsOf } from '../restore/restore.ts'
import { exactId } from '../support/exact-numbers.ts'

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
  const asked = readCall('records', RECORDS, options) as unknown as RecordsOptions
  for await (const lines of recordLines(asked)) yield* stringsOf(lines)
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
      // A read of all records needs whole files: those are hashed.
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
