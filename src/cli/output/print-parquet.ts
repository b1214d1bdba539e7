/** The answer to a statement as one Parquet file on standard output. */

import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import type { LakeQuery } from '../../lake/query/lake-query.ts'
import { openWorkshop } from '../../targets/export/write-rows.ts'
import { askLake, type LakeQueryRequest } from '../ask-lake.ts'
import { printBytes } from './print.ts'

/**
 * Asks a lake and prints the rows, at most `limit`. A Parquet file ends with what says where its parts are, so that it is
 * written to a temporary folder first.
 *
 * @throws {ToolkitError} USAGE where standard output is a terminal, QUERY_REFUSED, QUERY_FAILED, DISK_FULL, WRITE_FAILED
 */
export const printParquet = async (
  request: LakeQueryRequest,
  sql: string,
  limit: number | undefined,
  /** Prints the notes on the statement. */
  noteOn: (query: LakeQuery, tookMs: number) => Promise<void>,
): Promise<void> => {
  if (process.stdout.isTTY)
    throw new ToolkitError(
      'USAGE',
      'Cannot print Parquet on a terminal: expected standard output to be a file or a program, such as > answer.parquet',
    )
  const { folder, remove } = await openWorkshop(tmpdir())
  try {
    const path = join(folder, 'answer.parquet')
    await askLake({ ...request, outFolder: folder }, async (query) => {
      const started = performance.now()
      await query.copy(sql, path, { kind: 'parquet' }, limit)
      await noteOn(query, performance.now() - started)
    })
    const file = await open(path)
    // A reader that goes away ends the process: nothing may be left then.
    await remove()
    for await (const part of file.createReadStream()) await printBytes(part)
  } finally {
    await remove()
  }
}
