/**
 * Command: `node bench/manifest.ts [--partitions 1000,100000,1000000] [--publish] [--out DIR]`. What a commit of one partition costs
 * onto a lake of so many, and the time and peak memory of commands that read its manifest. The lake has no data. `--publish`:
 * also of publishing one more partition, where all others are published.
 */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { commitPartitions } from '../src/commit/commit-run.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { inLake, loadPath, MANIFEST_FOLDER } from '../src/lake/files/layout.ts'
import { createRun, removeRun } from '../src/manifest/runs/runs.ts'
import { readRoot } from '../src/manifest/snapshots/snapshots.ts'
import { storageOf } from '../src/storage/open-storage.ts'
import { sha256Of } from '../src/support/hash.ts'
import { TOOL } from '../src/support/own-package.ts'
import { inventedPartition, makeInventedLake } from './invented-lake.ts'
import { inventPublications } from './invented-publication.ts'
import { measureNode, median } from './measure.ts'

const COMMITS = 30
const MAIN = join(import.meta.dirname, '../src/cli/main.ts')

const { values } = parseArgs({
  options: {
    partitions: { type: 'string', default: '1000,100000,1000000' },
    publish: { type: 'boolean', default: false },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const manifestBytes = async (lake: string): Promise<number> =>
  (await storageOf(lake).list(MANIFEST_FOLDER)).reduce((sum, { bytes }) => sum + bytes, 0)

/** A file of one row. */
const parquetFile = async (folder: string): Promise<Buffer> => {
  await mkdir(folder, { recursive: true })
  const [path, spillFolder] = [join(folder, 'one.parquet'), join(folder, 'spill')]
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1, spillFolder })
  const session = await engine.connect()
  await session.copy(`SELECT 1::BIGINT AS internal_id, 'SE' AS country_code`, path, { kind: 'parquet' })
  session.close()
  engine.close()
  return readFile(path)
}

/** Commits a run with one partition. @returns what the commit itself took */
const commitOne = async (lake: string, number: number, bytes: Buffer) => {
  const lease = await createRun({ lake, plan: { number }, now: new Date(), random: randomBytes })
  const path = `${loadPath('companies', lease.run)}/one.parquet`
  await mkdir(dirname(inLake(lake, path)), { recursive: true })
  await writeFile(inLake(lake, path), bytes)
  const file = { table: 'companies', path, rows: 1, bytes: bytes.length, sha256: sha256Of(bytes) }
  const one = inventedPartition(lease.run, number, [file])
  const partition = { ...one, counts: { ...one.counts, lines: 1, records: 1 } }
  const [before, cpu, started] = [await manifestBytes(lake), process.cpuUsage(), performance.now()]
  await commitPartitions({
    ...{ lease, pipeline: 'convert', tool: TOOL, partitions: [partition], runFiles: [] },
    ...{ now: () => new Date(), random: randomBytes, rules: [] },
  })
  const { user, system } = process.cpuUsage(cpu)
  const wallMs = performance.now() - started
  const written = (await manifestBytes(lake)) - before
  await removeRun(lease)
  return { cpuMs: (user + system) / 1e3, wallMs, kilobytes: written / 1e3 }
}

const average = (numbers: readonly number[]): number =>
  numbers.reduce((sum, one) => sum + one, 0) / numbers.length

const measureCommits = async (lake: string, partitions: number, file: Buffer): Promise<void> => {
  // The first ones find the code cold.
  for (let at = 0; at < 5; at += 1) await commitOne(lake, partitions + at, file)
  const commits: Awaited<ReturnType<typeof commitOne>>[] = []
  for (let at = 5; at < 5 + COMMITS; at += 1) commits.push(await commitOne(lake, partitions + at, file))
  const [cpu, wall, size] = [
    commits.map(({ cpuMs }) => cpuMs),
    commits.map(({ wallMs }) => wallMs),
    commits.map(({ kilobytes }) => kilobytes),
  ]
  console.log(
    `  commit: CPU ${average(cpu).toFixed(1)} ms (median ${median(cpu).toFixed(1)}), wall ${median(wall).toFixed(0)} ms, ` +
      `${average(size).toFixed(1)} kB written (most ${Math.max(...size).toFixed(0)})`,
  )
}

const measureCommand = async (args: readonly string[], lake: string): Promise<void> => {
  const { wallSeconds, cpuSeconds, peakMegabytes } = await measureNode([MAIN, ...args, '--lake', lake])
  console.log(
    `  ${args.join(' ')}: wall ${wallSeconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, peak ${peakMegabytes.toFixed(0)} MiB`,
  )
}

const file = await parquetFile(join(values.out, 'manifest-file'))
for (const partitions of values.partitions.split(',').map(Number)) {
  const lake = join(values.out, `manifest-${partitions}`)
  await rm(lake, { recursive: true, force: true })
  await makeInventedLake(lake, partitions)
  console.log(`${partitions} partitions, ${((await manifestBytes(lake)) / 1e6).toFixed(1)} MB of manifest`)
  await measureCommits(lake, partitions, file)
  await measureCommand(['status'], lake)
  await measureCommand(['query', 'select 1'], lake)
  await measureCommand(['gc'], lake)
  if (values.publish) {
    await inventPublications(lake, await readRoot(lake))
    await commitOne(lake, 2 * partitions, file)
    await measureCommand(['publish', 'delta', '--memory', '512MiB'], lake)
    await measureCommand(['publish', 'iceberg', '--memory', '512MiB'], lake)
  }
  await rm(lake, { recursive: true })
}
