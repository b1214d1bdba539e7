/**
 * Command: `node bench/merges.ts [--companies 20000] [--nights 30] [--share 0.005] [--out DIR]`. Two lakes take the same nights, and one
 * of them merges after each: what published tables, the serving index, the catalog's change feed and sinks see of it, as rows that are
 * reported as changed and bytes that are written, in all nights, and in those of the merges alone. Needs the extension ducklake of
 * `.ci/install-tools` for the change feed, and programs of a PostgreSQL server for its sink, whose bytes are those of its log.
 */

import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { textTable } from '../src/cli/output/text-table.ts'
import { servingMemory } from '../src/core/memory-shares.ts'
import { compact } from '../src/jobs/compact.ts'
import { convert } from '../src/jobs/convert.ts'
import { SERVE_FOLDER } from '../src/lake/files/layout.ts'
import { tablesOf } from '../src/lake/tables/tables.ts'
import { newestNumber } from '../src/manifest/snapshots/snapshots.ts'
import { currentIndex } from '../src/server/serving-index/build/current-index.ts'
import { updateTargets } from '../src/targets/update-targets.ts'
import { inCatalog } from '../test/manifest/ducklake/in-catalog.ts'
import { missingDuckLake } from '../test/support/ducklake.ts'
import { postgresMissing, startPostgres, withClient } from '../test/support/postgres-server.ts'
import { nightOf } from './nightly-lake.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '20000' },
    nights: { type: 'string', default: '30' },
    share: { type: 'string', default: '0.005' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})
const [COMPANIES, NIGHTS, SHARE] = [values.companies, values.nights, values.share].map(Number) as [
  number,
  number,
  number,
]
const MEMORY = 1024 ** 3
const CONTENT_TABLES = tablesOf('companies').map(({ name }) => name)

/** Rows that a consumer is told of as changed, and bytes that are written for it. */
interface Seen {
  rows: number
  bytes: number
}

const CONSUMERS = [
  ...([
    'Delta, current rows',
    'Delta, all versions',
    'Iceberg, current rows',
    'Iceberg, all versions',
  ] as const),
  ...([
    'serving index',
    'lake.ducklake: table_changes',
    'sink: DuckDB file',
    'sink: folder of JSON Lines',
    'sink: PostgreSQL',
  ] as const),
] as const
type Consumer = (typeof CONSUMERS)[number]
/** Of these a file is written in place, or anew for each snapshot. */
const IN_PLACE: readonly Consumer[] = ['lake.ducklake: table_changes', 'sink: DuckDB file']

/** Sizes of the files below a folder that are its own: a link to a file of the lake is none. */
const sizesBelow = async (folder: string): Promise<ReadonlyMap<string, number>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = new Map<string, number>()
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const { size, nlink, mtimeMs } = await stat(path)
    if (entry.isFile()) sizes.set(`${path} ${mtimeMs}`, nlink > 1 ? 0 : size)
  }
  return sizes
}

interface Place {
  readonly consumer: Consumer
  readonly folders: readonly string[]
  /** Rows that it is told of since the step before. */
  readonly rows: () => Promise<number>
  /** Bytes that it has written until now beside those in folders. @default none */
  readonly written?: () => Promise<number>
}

const linesOf = async (path: string): Promise<readonly Record<string, Record<string, unknown>>[]> =>
  (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Rows of files that a Delta log adds and removes as a change of data. */
const deltaRows = (folders: readonly string[]) => {
  const known = new Map<string, number>()
  const read = new Set<string>()
  return async (): Promise<number> => {
    let rows = 0
    for (const folder of folders) {
      const log = join(folder, '_delta_log')
      for (const name of (await readdir(log)).filter((one) => /^\d+\.json$/.test(one)).sort()) {
        const path = join(log, name)
        if (read.has(path)) continue
        read.add(path)
        for (const { add, remove } of await linesOf(path)) {
          const file = `${folder} ${(add ?? remove)?.path}`
          if (add) known.set(file, Number(JSON.parse(String(add.stats)).numRecords))
          if ((add ?? remove)?.dataChange === true) rows += known.get(file) ?? 0
        }
      }
    }
    return rows
  }
}

/** Rows that an Iceberg table's snapshots add and delete, but for those that only put files in place of others. */
const icebergRows = (folders: readonly string[]) => {
  const read = new Set<string>()
  return async (): Promise<number> => {
    let rows = 0
    for (const folder of folders) {
      const metadata = join(folder, 'metadata')
      const hint = await readFile(join(metadata, 'version-hint.text'), 'utf8')
      const { snapshots } = JSON.parse(
        await readFile(join(metadata, `v${hint.trim()}.metadata.json`), 'utf8'),
      )
      for (const { 'snapshot-id': id, summary } of snapshots) {
        if (read.has(`${folder} ${id}`)) continue
        read.add(`${folder} ${id}`)
        if (summary.operation === 'replace') continue
        for (const what of ['added-records', 'deleted-records', 'added-position-deletes'])
          rows += Number(summary[what])
      }
    }
    return rows
  }
}

const changesInCatalog = (lake: string) => {
  let before = 0
  return async (): Promise<number> => {
    if (missingDuckLake() !== undefined) return Number.NaN
    const newest = await newestNumber(lake)
    const from = before + 1
    before = newest
    if (from > newest) return 0
    return inCatalog(lake, async (ask) => {
      const counts = CONTENT_TABLES.map(
        (table) => `(SELECT count(*) FROM lake.table_changes('${table}', ${from}, ${newest}))`,
      )
      const [row] = await ask(`SELECT ${counts.join(' + ')} AS n`)
      return Number(row?.n)
    })
  }
}

const server = postgresMissing() === undefined ? startPostgres() : undefined
const databaseOf = async (): Promise<string | undefined> => server?.url(await server.newDatabase())
/** Bytes of the server's log. */
const loggedIn = (url: string) => async (): Promise<number> => {
  const { rows } = await withClient(url, (client) =>
    client.query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes"),
  )
  return Number(rows[0].bytes)
}

/** A lake, and all that follows it. */
class Followed {
  readonly lake: string
  readonly #folder: string
  readonly #places: readonly Place[]
  readonly #sizes = new Map<Consumer, ReadonlyMap<string, number>>()
  readonly #written = new Map<Consumer, number>()
  readonly #delivered = new Map<string, number>()
  readonly #sinks: readonly string[]
  /** Segments of the serving index that are known, and records of those that came since the step before. */
  readonly #segments = new Set<string>()
  #inSegments = 0

  /** @param database address of a PostgreSQL database; `undefined` where there is no server */
  constructor(folder: string, database: string | undefined) {
    this.#folder = folder
    this.lake = join(folder, 'lake')
    this.#sinks = [
      `duckdb:${join(folder, 'sink.duckdb')}`,
      `jsonl:${join(folder, 'sink')}`,
      ...(database === undefined ? [] : [database]),
    ]
    const below = (...names: string[]): string => join(this.lake, ...names)
    const [deltaCurrent, deltaAll, icebergCurrent] = [
      CONTENT_TABLES.map((table) => below('published', 'delta', table)),
      CONTENT_TABLES.map((table) => below(table)),
      CONTENT_TABLES.map((table) => below('published', 'iceberg', table)),
    ]
    const delivered = (sink: string) => async () => {
      const rows = this.#delivered.get(sink) ?? 0
      this.#delivered.delete(sink)
      return rows
    }
    this.#places = [
      { consumer: 'Delta, current rows', folders: deltaCurrent, rows: deltaRows(deltaCurrent) },
      {
        consumer: 'Delta, all versions',
        folders: deltaAll.map((path) => join(path, '_delta_log')),
        rows: deltaRows(deltaAll),
      },
      { consumer: 'Iceberg, current rows', folders: icebergCurrent, rows: icebergRows(icebergCurrent) },
      {
        consumer: 'Iceberg, all versions',
        folders: deltaAll.map((path) => join(path, 'metadata')),
        rows: icebergRows(deltaAll),
      },
      { consumer: 'serving index', folders: [below(SERVE_FOLDER)], rows: async () => this.#inSegments },
      { consumer: 'lake.ducklake: table_changes', folders: [], rows: changesInCatalog(this.lake) },
      ...(['sink: DuckDB file', 'sink: folder of JSON Lines'] as const).map(
        (consumer, at): Place => ({
          ...{
            consumer,
            folders: at === 0 ? [] : [join(folder, 'sink')],
            rows: delivered(this.#sinks[at] ?? ''),
          },
        }),
      ),
      {
        ...{ consumer: 'sink: PostgreSQL', folders: [] },
        rows: database === undefined ? async () => Number.NaN : delivered(database),
        ...(database !== undefined && { written: loggedIn(database) }),
      },
    ]
  }

  async load(night: number): Promise<void> {
    const path = join(this.#folder, `night-${night}.jsonl`)
    await writeFile(path, nightOf(COMPANIES, SHARE, night))
    await convert({ from: path, lake: this.lake })
    await rm(path)
  }

  /** Brings the serving index in step. Records of a segment that is new are those that it tells its readers anew. */
  async #index(): Promise<void> {
    const index = await currentIndex({ lake: this.lake, memoryBytes: servingMemory(MEMORY) })
    const fresh = index.description.segments.filter(({ name }) => !this.#segments.has(name))
    for (const { name } of fresh) this.#segments.add(name)
    this.#inSegments = fresh.reduce((sum, { records }) => sum + records.companies + records.relations, 0)
    await index.close()
  }

  /** Brings all that follows the lake in step, and adds what each of them sees to what it saw before. */
  async follow(seen: ReadonlyMap<Consumer, Seen>): Promise<void> {
    const { delivered } = await updateTargets({
      ...{ lake: this.lake, publish: ['delta', 'iceberg'], memoryBytes: MEMORY },
      sinks: this.#sinks,
    })
    for (const [at, { rows }] of delivered.entries()) this.#delivered.set(this.#sinks[at] ?? '', rows)
    await this.#index()
    for (const { consumer, folders, rows, written } of this.#places) {
      const before = this.#sizes.get(consumer) ?? new Map()
      const after = new Map<string, number>()
      for (const folder of folders) for (const [path, size] of await sizesBelow(folder)) after.set(path, size)
      this.#sizes.set(consumer, after)
      const total = (await written?.()) ?? 0
      const more = total - (this.#written.get(consumer) ?? 0)
      this.#written.set(consumer, total)
      const own = seen.get(consumer)
      if (own === undefined) continue
      own.rows += await rows()
      own.bytes += more
      for (const [path, size] of after) if (!before.has(path)) own.bytes += size
    }
  }
}

const nothingSeen = (): ReadonlyMap<Consumer, Seen> =>
  new Map(CONSUMERS.map((consumer) => [consumer, { rows: 0, bytes: 0 }]))

const home = join(values.out, 'merges')
await rm(home, { recursive: true, force: true })
const play = async (name: string, merges: boolean) => {
  const folder = join(home, name)
  await mkdir(folder, { recursive: true })
  const followed = new Followed(folder, await databaseOf())
  const [loads, ofMerges] = [nothingSeen(), nothingSeen()]
  let count = 0
  await followed.load(0)
  await followed.follow(nothingSeen())
  for (let night = 1; night <= NIGHTS; night += 1) {
    await followed.load(night)
    await followed.follow(loads)
    if (!merges || (await compact({ lake: followed.lake, auto: true })).kind !== 'compacted') continue
    count += 1
    await followed.follow(ofMerges)
  }
  return { loads, ofMerges, count }
}

const playBoth = async () => [await play('without', false), await play('merged', true)] as const
const [without, merged] = await playBoth().finally(() => server?.remove())
const cells = (seen: ReadonlyMap<Consumer, Seen>, consumer: Consumer): readonly string[] => {
  const { rows = 0, bytes = 0 } = seen.get(consumer) ?? {}
  return [
    Number.isNaN(rows) ? '-' : String(rows),
    IN_PLACE.includes(consumer) ? '-' : String(Math.round(bytes / 1000)),
  ]
}
console.log(
  `${COMPANIES} companies, ${NIGHTS} nights of ${SHARE * 100} %, ${merged.count} merges: rows reported as changed, kB written`,
)
const titles = ['without', 'kB', 'with merges: loads', 'kB', 'the merges', 'kB']
for (const line of textTable(
  [{ title: 'who follows the lake' }, ...titles.map((title) => ({ title, right: true }))],
  CONSUMERS.map((consumer) => [
    consumer,
    ...cells(without.loads, consumer),
    ...cells(merged.loads, consumer),
    ...cells(merged.ofMerges, consumer),
  ]),
))
  console.log(line)
await rm(home, { recursive: true })
