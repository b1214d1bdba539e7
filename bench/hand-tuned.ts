/**
 * Contender (b): the same conversion tuned by hand, without any guard. No check of lines, no quarantine, no
 * drift, no manifest, no fsync: what a careful person would write for files they trust.
 *
 * Usage: `node bench/hand-tuned.ts --out DIR FILE.jsonl.br …`
 */

import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { quotedList } from './contract-columns.ts'
import { ENUMS, TABLES } from './hand-tuned-sql.ts'

const BLOCK_BYTES = 32 << 20
const NEWLINE = 10

/** Decodes Brotli files into files of whole lines; the next one is made while the last one is loaded. */
async function* blocksOf(files: readonly string[], spool: string): AsyncGenerator<string> {
  let number = 0
  const write = async (parts: readonly Uint8Array[]): Promise<string> => {
    const path = join(spool, `${number++}.jsonl`)
    const file = await open(path, 'w')
    await file.writev([...parts])
    await file.close()
    return path
  }
  for (const name of files) {
    const decoder = createBrotliDecompress({ chunkSize: 1 << 20 })
    createReadStream(name, { highWaterMark: 1 << 20 }).pipe(decoder)
    let parts: Uint8Array[] = []
    let size = 0
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      const end = size + chunk.length < BLOCK_BYTES ? -1 : chunk.lastIndexOf(NEWLINE)
      if (end < 0) {
        parts.push(chunk)
        size += chunk.length
        continue
      }
      yield await write([...parts, chunk.subarray(0, end + 1)])
      const rest = chunk.subarray(end + 1)
      parts = [rest]
      size = rest.length
    }
    if (size > 0) yield await write(parts)
  }
}

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const out = values.out ?? 'lake-hand-tuned'
const spool = join(out, 'spool')
for (const directory of [spool, ...Object.keys(TABLES).map((table) => join(out, table))]) {
  await mkdir(directory, { recursive: true })
}
const instance = await DuckDBInstance.create(':memory:', { threads: '2', preserve_insertion_order: 'false' })
const connection = await instance.connect()
for (const [name, enumValues] of Object.entries(ENUMS)) {
  await connection.run(`CREATE TYPE ${name} AS ENUM (${quotedList(enumValues)})`)
}

/** One table after the other: as fast as all at once, for each uses both threads, with less memory. */
const load = async (block: string, partition: number): Promise<void> => {
  for (const [table, select] of Object.entries(TABLES)) {
    await connection.run(
      `COPY (${select(block)}) TO '${join(out, table, `${partition}.parquet`)}'
       (FORMAT parquet, COMPRESSION zstd, RETURN_STATS)`,
    )
  }
  await rm(block)
}

let partition = 0
let loading: Promise<void> = Promise.resolve()
for await (const block of blocksOf(positionals, spool)) {
  await loading
  loading = load(block, partition++)
}
await loading
await rm(spool, { recursive: true })
