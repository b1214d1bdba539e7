/**
 * Command: `node bench/levels.ts [--companies 2000] [--nights 900] [--share 0.005] [--main DIR/dist/cli/main.js] [--out DIR]`. Nights as
 * whole commands, `convert` and then `compact --auto`: the most partitions and files of a table, rows and bytes written to those loaded
 * after a year and at the end, lists of versions written, and the CPU of merges to that of the load of their night.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { FileEntry } from '../src/core/partition.ts'
import { isCompaction } from '../src/core/source-kinds.ts'
import { newestSnapshot } from '../src/manifest/snapshots/snapshots.ts'
import { measureProcess, median } from './measure.ts'
import { nightOf } from './nightly-lake.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '2000' },
    nights: { type: 'string', default: '900' },
    share: { type: 'string', default: '0.005' },
    main: { type: 'string', default: join(import.meta.dirname, '../src/cli/main.ts') },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})
const [COMPANIES, NIGHTS, SHARE] = [values.companies, values.nights, values.share].map(Number) as [
  number,
  number,
  number,
]
const YEAR = 365

const home = join(values.out, 'levels')
const lake = join(home, 'lake')
const command = async (...args: readonly string[]): Promise<number> =>
  (await measureProcess(process.execPath, ['--max-semi-space-size=8', values.main, ...args])).cpuSeconds

/** Rows and bytes of files. */
class Sum {
  rows = 0
  bytes = 0
  add(files: readonly Pick<FileEntry, 'rows' | 'bytes'>[]): void {
    for (const file of files) {
      this.rows += file.rows
      this.bytes += file.bytes
    }
  }
}

interface Merge {
  readonly night: number
  readonly cpu: number
  readonly load: number
  readonly partitions: number
  readonly rows: number
  readonly listBytes: number
}

const [loaded, merged, lists] = [new Sum(), new Sum(), new Sum()]
const [seenFiles, seenLists] = [new Set<string>(), new Set<string>()]
const merges: Merge[] = []
const idle: number[] = []
let [mostPartitions, mostFiles] = [0, 0]

/** Counts what the newest snapshot has new. @returns rows and bytes of lists that it has written, and its partitions */
const look = async () => {
  const snapshot = await newestSnapshot(lake)
  if (snapshot === null) throw new Error('Cannot count: the lake has no snapshot')
  const before = { rows: merged.rows, listBytes: lists.bytes }
  for (const { files, source } of snapshot.partitions) {
    const own = files.filter(({ path }) => !seenFiles.has(path))
    for (const { path } of own) seenFiles.add(path)
    ;(isCompaction(source) ? merged : loaded).add(own)
  }
  const newLists = snapshot.versions.filter(({ name }) => !seenLists.has(name))
  for (const { name } of newLists) seenLists.add(name)
  lists.add(newLists)
  const perTable = Map.groupBy(
    snapshot.partitions.flatMap(({ files }) => files),
    ({ table }) => table,
  )
  return {
    partitions: snapshot.partitions.length,
    files: Math.max(...[...perTable.values()].map(({ length }) => length)),
    rows: merged.rows - before.rows,
    listBytes: lists.bytes - before.listBytes,
    kind: snapshot.pipeline,
  }
}

const load = async (night: number): Promise<number> => {
  const path = join(home, `night-${night}.jsonl`)
  await writeFile(path, nightOf(COMPANIES, SHARE, night))
  const cpu = await command('convert', path, '--lake', lake)
  await rm(path)
  return cpu
}

const ratio = (a: number, b: number): string => (a / b).toFixed(2)
const report = (nights: number): void => {
  const [ratios, cpu] = [merges.map((one) => one.cpu / one.load), merges.map((one) => one.cpu)]
  const largest = merges.toSorted((a, b) => b.cpu / b.load - a.cpu / a.load)[0]
  console.log(
    `${nights} nights: most partitions ${mostPartitions}, most files of a table ${mostFiles}, after each night's merge
  rows written to loaded ${ratio(loaded.rows + merged.rows, loaded.rows)} (${loaded.rows} loaded, ${merged.rows} by merges), bytes ${ratio(loaded.bytes + merged.bytes, loaded.bytes)}
  rows of nights written to loaded ${ratio(loaded.rows - first.rows + merged.rows, loaded.rows - first.rows)}
  lists of versions: ${lists.rows} rows, ${Math.round(lists.bytes / 1000)} kB
  ${merges.length} merges, CPU to the load's: median ${median(ratios).toFixed(2)} (${median(cpu).toFixed(2)} s), largest ${ratio(largest?.cpu ?? 0, largest?.load ?? 1)}: night ${largest?.night}, ${largest?.cpu.toFixed(2)} s, ${largest?.partitions} partitions left, ${largest?.rows} rows
  a night without a merge: ${median(idle).toFixed(2)} s`,
  )
}

await rm(home, { recursive: true, force: true })
await mkdir(home, { recursive: true })
await load(0)
await look()
const first = { rows: loaded.rows }
for (let night = 1; night <= NIGHTS; night += 1) {
  const cpu = await load(night)
  await look()
  const merging = await command('compact', '--lake', lake, '--auto')
  const after = await look()
  mostPartitions = Math.max(mostPartitions, after.partitions)
  mostFiles = Math.max(mostFiles, after.files)
  if (after.kind === 'compact')
    merges.push({ night, cpu: merging, load: cpu, ...after, listBytes: after.listBytes })
  else idle.push(merging)
  if (night === YEAR) report(night)
}
report(NIGHTS)
await rm(home, { recursive: true })
