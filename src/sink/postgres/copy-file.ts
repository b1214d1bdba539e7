/** Streams a staged CSV file into a table. */

import { createReadStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { ident } from '../../lake/duckdb/sql.ts'

const CHUNK_BYTES = 256 * 1024
const REPLACEMENT = Buffer.from('\ufffd').toString('latin1')

/** Replaces each byte 0, which in UTF-8 is U+0000 and nothing else, by U+FFFD, and counts them. */
const replaceNuls = (): { readonly stream: Transform; readonly count: () => number } => {
  let count = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!chunk.includes(0)) return done(null, chunk)
      const parts = chunk.toString('latin1').split('\0')
      count += parts.length - 1
      done(null, Buffer.from(parts.join(REPLACEMENT), 'latin1'))
    },
  })
  return { stream, count: () => count }
}

/**
 * Copies a file whose columns are those named. NULL is nothing between commas, an empty text is `""`.
 *
 * @param target the table, quoted
 * @returns how many characters U+0000 were replaced by U+FFFD: text of PostgreSQL cannot hold them
 */
export const copyFile = async (
  client: Client,
  path: string,
  target: string,
  columns: readonly string[],
): Promise<number> => {
  const { from } = await import('pg-copy-streams')
  const copy = client.query(
    from(
      `COPY ${target} (${columns.map(ident).join(', ')}) FROM STDIN (FORMAT csv, NULL '', ENCODING 'UTF8')`,
    ),
  )
  const nuls = replaceNuls()
  await pipeline(createReadStream(path, { highWaterMark: CHUNK_BYTES }), nuls.stream, copy)
  return nuls.count()
}
