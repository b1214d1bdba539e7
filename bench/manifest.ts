/**
 * Command: `node bench/manifest.ts [--partitions 1000,100000,1000000] [--out DIR]`. What a commit of one partition costs
 * onto a lake of so many, and the time and peak memory of commands that read its manifest. The lake has no data.
 */

import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { inLake, loadPath, MANIFEST_FOLDER } from '../src/lake/lake/layout.ts'
import { commitRun } from '../src/manifest/commit-run.ts'
import { createRun, removeRun } from '../src/manifest/runs.ts'
import { storageOf } from '../src/storage/open-storage.ts'
import { sha256Of } from '../src/support/hash.ts'
import { TOOL } from '../src/support/tool-version.ts'
import { inventedPartition, makeInventedLake } from './invented-lake.ts'
import { measureNode, median } from './measure.ts'

const COMMITS = 30
const MAIN = join(import.meta.dirname, '../src/cli/main.ts')

const { values } = parseArgs({
  options: {
    partitions: { type: 'string', default: '1000,100000,1000000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const manifestBytes = async (lake: string): Promise<number> =>
  (await storageOf(lake).list(MANIFEST_FOLDER)).reduce((sum, { bytes }) => sum + bytes, 0)

/** Commits a run with one partition. @returns what the commit itself took */
const commitOne = async (lake: string, number: number) => {
  const lease = await createRun({ lake, plan: { number }, now: new Date(), random: randomBytes })
  const text = `rows of ${number}`
  const path = `${loadPath('companies', lease.run)}/one.parquet`
  await mkdir(dirname(inLake(lake, path)), { recursive: true })
  await writeFile(inLake(lake, path), text)
  const file = { table: 'companies', path, rows: 1, bytes: text.length, sha256: sha256Of(text) }
  const one = inventedPartition(lease.run, number, [file])
  const partition = { ...one, counts: { ...one.counts, lines: 1, records: 1 } }
  const [bytes, cpu, started] = [await manifestBytes(lake), process.cpuUsage(), performance.now()]
  await commitRun({
    ...{ lease, pipeline: 'convert', tool: TOOL, partitions: [partition], runFiles: [] },
    ...{ now: () => new Date(), random: randomBytes },
  })
  const { user, system } = process.cpuUsage(cpu)
  const wallMs = performance.now() - started
  const written = (await manifestBytes(lake)) - bytes
  await removeRun(lease)
  return { cpuMs: (user + system) / 1e3, wallMs, kilobytes: written / 1e3 }
}

const average = (numbers: readonly number[]): number =>
  numbers.reduce((sum, one) => sum + one, 0) / numbers.length

const measureCommits = async (lake: string, partitions: number): Promise<void> => {
  // The first ones find the code cold.
  for (let at = 0; at < 5; at += 1) await commitOne(lake, partitions + at)
  const commits: Awaited<ReturnType<typeof commitOne>>[] = []
  for (let at = 5; at < 5 + COMMITS; at += 1) commits.push(await commitOne(lake, partitions + at))
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

for (const partitions of values.partitions.split(',').map(Number)) {
  const lake = join(values.out, `manifest-${partitions}`)
  await rm(lake, { recursive: true, force: true })
  await makeInventedLake(lake, partitions)
  console.log(`${partitions} partitions, ${((await manifestBytes(lake)) / 1e6).toFixed(1)} MB of manifest`)
  await measureCommits(lake, partitions)
  await measureCommand(['status'], lake)
  await measureCommand(['query', 'select 1'], lake)
  await measureCommand(['gc'], lake)
  await rm(lake, { recursive: true })
}
