/** Command: `node bench/parts.ts [--mb 236]`. The parts of our conversion, each by itself: CPU seconds of all threads. */

import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PerformanceObserver } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type CheckedPart, checkBlock } from '../src/check/check-block.ts'
import { RecordChecker } from '../src/check/record/check-record.ts'
import type { Block } from '../src/core/lines.ts'
import { decodeBlocks } from '../src/decode/decode-blocks.ts'
import { convertFiles } from '../src/jobs/convert.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { literal } from '../src/lake/duckdb/sql.ts'
import { employeesTable, financialsTable } from '../src/load/figure-tables.ts'
import { companiesTable } from '../src/load/record-tables.ts'
import { SpareFields } from '../src/load/row-table.ts'
import { readOddValues } from '../src/rows/odd-values.ts'
import { newSeenSets } from '../src/rows/seen-sets.ts'
import { localSources } from '../src/source/local-sources.ts'
import { hashFile } from '../src/support/hash.ts'
import { cachedDataset } from './dataset.ts'

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '236' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})
const work = join(values.out, 'parts')
const MEMORY_BYTES = 512 * 1024 ** 2

const spent = new Map<string, number>()
const timed = async <T>(part: string, does: () => T | Promise<T>): Promise<T> => {
  const before = process.cpuUsage()
  const result = await does()
  const { user, system } = process.cpuUsage(before)
  spent.set(part, (spent.get(part) ?? 0) + (user + system) / 1e6)
  return result
}

const { files, decodedBytes } = await cachedDataset(values.out, {
  megabytes: Number(values.mb),
  files: 2,
  quality: 5,
})
await mkdir(work, { recursive: true })
const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1 })
const session = await engine.connect()

/** As `sink/parquet-lake.ts` has them written, and without compression: the difference is that of Zstandard. */
const copy = async (table: string, sql: string): Promise<void> => {
  const level = table === 'financials' ? ', COMPRESSION_LEVEL 2, DICTIONARY_SIZE_LIMIT 8192' : ''
  for (const compression of [`zstd${level}`, 'uncompressed']) {
    const path = join(work, `${table}.parquet`)
    const options = `FORMAT parquet, COMPRESSION ${compression}`
    await timed(`${table}, ${compression.replace(/,.*/, '')}`, () =>
      session.run(`COPY (${sql}) TO ${literal(path)} (${options})`),
    )
    if (compression.startsWith('zstd')) await timed('hash', () => hashFile(path))
    await rm(path)
  }
}

const spare = new SpareFields()

const loadPart = async (part: CheckedPart, { bytes }: Block): Promise<void> => {
  const odd = await timed('odd values', () => readOddValues(engine, part.rows.objects, bytes))
  const tables = {
    financials: financialsTable({ part, bytes, odd }),
    employees: employeesTable({ part, bytes, odd }),
    companies: companiesTable({ part, bytes, odd, spare }),
  }
  for (const [table, columns] of Object.entries(tables)) {
    const { from, remove } = await engine.addTable(columns)
    await copy(table, `FROM ${from}`)
    remove()
  }
}

const checker = new RecordChecker('companies', newSeenSets())
for (const source of await localSources(files)) {
  const blocks = decodeBlocks(() => source.open(), { name: source.name })[Symbol.asyncIterator]()
  for (;;) {
    const step = await timed('Brotli', () => blocks.next())
    if (step.done) break
    const { parts } = await timed('check', () => checkBlock(step.value, checker))
    for (const part of parts) await loadPart(part, step.value)
  }
}
session.close()
engine.close()

let garbageMs = 0
const observer = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) garbageMs += duration
})
observer.observe({ entryTypes: ['gc'] })
/** @returns CPU seconds of the main thread */
const whole = async (name: string, checkThreads: number): Promise<number> => {
  const before = process.threadCpuUsage()
  await timed(name, () =>
    convertFiles(
      { inputs: files, cwd: process.cwd(), again: false, limits: {} },
      { lake: join(work, name), maxQuarantined: { kind: 'count', lines: 0 }, threads: 2, checkThreads },
    ),
  )
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}
await whole('a conversion', 0)
observer.disconnect()
spent.set('its garbage, on the wall', garbageMs / 1e3)
// What cannot be shared between cores: with any number of them no conversion takes less.
spent.set('main thread of that', await whole('one with a checking thread', 1))
await rm(work, { recursive: true })

console.log(`${(decodedBytes / 1e6).toFixed(0)} MB decoded`)
for (const [part, seconds] of spent) console.log(`${part.padEnd(28)} ${seconds.toFixed(2)} s`)
