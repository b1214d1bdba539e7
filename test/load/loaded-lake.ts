/** Loads lines into a small lake through the real stages, and reads its tables, its quarantine and its records. */

import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkBlock, emptyPart } from '../../src/check/check-block.ts'
import type { CheckOptions } from '../../src/check/drift/check-options.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import { PartWriter } from '../../src/commit/extend-list.ts'
import { listVersions } from '../../src/commit/record-versions.ts'
import type { Content } from '../../src/contract/objects.ts'
import type { Block, RejectedLine } from '../../src/core/lines.ts'
import type { Drift, FileEntry, PartitionEntry, Snapshot } from '../../src/core/partition.ts'
import type { SinkRun } from '../../src/core/sink.ts'
import type { LineItemKey } from '../../src/core/unknown-names.ts'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { inLake } from '../../src/lake/files/layout.ts'
import { TABLES, type TableName } from '../../src/lake/tables/tables.ts'
import { filesOf, readTable } from '../../src/lake/views/current-versions.ts'
import { lineItemsOf } from '../../src/load/line-items.ts'
import { type Loader, openLoader } from '../../src/load/loader.ts'
import { restoreRecords } from '../../src/restore/restore.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import { parquetLake } from '../../src/sink/parquet-lake.ts'
import { committedBy, partitionsBy } from '../manifest/write-snapshot.ts'

const MEMORY_BYTES = 512 * 1024 * 1024

/** Lines of one source; each item is a line without its end, a record, or bytes with their line ends. */
export interface Batch {
  readonly content: Content
  readonly lines: readonly (string | object)[] | Buffer
  readonly check?: CheckOptions
  /** Where each line stood, as in a block of a quarantine. */
  readonly places?: Block['places']
}

export const linesText = (lines: readonly (string | object)[]): string =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')

export const blockOf = (bytes: Buffer): Block => ({ bytes, firstLine: 1, offset: 0, overlong: [] })

export interface LoadedLake {
  readonly lake: string
  readonly snapshot: Snapshot
  readonly rejected: readonly RejectedLine[]
  readonly drift: readonly Drift[]
  /** Rows of the quarantine, those included that DuckDB refused. */
  readonly quarantine: () => Promise<Row[]>
  /** Rows of all versions, in the order of the table's key. */
  readonly rows: (table: TableName, columns?: string) => Promise<Row[]>
  /** Texts of the current records. @default of the content that was loaded, or of both */
  readonly givenBack: (content?: Content) => Promise<string[]>
}

/** An engine that the tests of a file share, and a folder in which each lake has its own. */
export class Workbench {
  readonly #engine: Engine
  readonly #session: Session
  readonly folder: string
  #lakes = 0

  private constructor(engine: Engine, session: Session, folder: string) {
    this.#engine = engine
    this.#session = session
    this.folder = folder
  }

  static async open(): Promise<Workbench> {
    const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
    return new Workbench(engine, await engine.connect(), await mkdtemp(join(tmpdir(), 'firmlake-load-')))
  }

  async close(): Promise<void> {
    this.#engine.close()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Loads batches one after the other, each as a block of its own, all in one run. */
  async load(...batches: readonly Batch[]): Promise<LoadedLake> {
    const lake = join(this.folder, `lake${this.#lakes++}`)
    const seen = newSeenSets()
    const loader = openLoader(async () => this.#engine, { spoolFolder: join(lake, '_runs/run/spool') })
    const sink = await parquetLake({ lake }).open('run')
    const partitions: PartitionEntry[] = []
    const rejected: RejectedLine[] = []
    const drift: Drift[] = []
    const items: LineItemKey[] = []
    for (const [at, { content, lines, places, check }] of batches.entries()) {
      const bytes = Buffer.isBuffer(lines) ? lines : Buffer.from(linesText(lines))
      const block = { ...blockOf(bytes), ...(places && { places }) }
      const checked = checkBlock(block, new RecordChecker(content, seen, check))
      rejected.push(...checked.rejected)
      drift.push(...checked.drift)
      items.push(...checked.unknownItems.items)
      const parts = checked.parts.length > 0 ? checked.parts : [emptyPart()]
      for (const [layer, part] of parts.entries()) {
        const id = `${at}-${layer}`
        const set = layer === 0 ? checked.rejected : []
        const loaded = await loadPart(loader, id, content, block, part, set, sink)
        partitions.push(loaded)
      }
    }
    const dictionary = await loader.withRows(lineItemsOf({ listed: items }), (rows) =>
      sink.write('line_items', 'line_items', rows),
    )
    await sink.commit([...partitions.flatMap(({ files }) => files), ...dictionary.files])
    await loader.close()
    const snapshot = await snapshotOf(lake, this.#session, { partitions, files: dictionary.files })
    return {
      lake,
      snapshot,
      rejected,
      drift,
      quarantine: () => quarantineOf(lake, snapshot),
      rows: (table, columns) => this.#rows(lake, snapshot, table, columns),
      givenBack: (content = onlyContent(batches)) => givenBackOf(lake, snapshot, content),
    }
  }

  /** A snapshot with the lists that its partitions and files ask for. */
  async listed(lake: string, snapshot: Snapshot): Promise<Snapshot> {
    return { ...snapshot, versions: await versionsOf(lake, this.#session, snapshot) }
  }

  async #rows(lake: string, snapshot: Snapshot, name: TableName, columns = '*'): Promise<Row[]> {
    const table = TABLES.find((one) => one.name === name)
    if (table === undefined) throw new TypeError(`No table "${name}"`)
    return this.#session.rows(
      `SELECT ${columns} FROM (${readTable(table, filesOf(snapshot, lake, name))}) ORDER BY ${table.key.join(', ')}`,
    )
  }
}

/** The content of all batches; none where they differ. */
const onlyContent = (batches: readonly Batch[]): Content | undefined => {
  const [first, ...more] = new Set(batches.map(({ content }) => content))
  return more.length === 0 ? first : undefined
}

const loadPart = async (
  loader: Loader,
  id: string,
  content: Content,
  block: Block,
  part: Parameters<Loader['load']>[0]['part'],
  rejected: readonly RejectedLine[],
  sink: SinkRun,
): Promise<PartitionEntry> => {
  const loaded = await loader.load(
    {
      partition: id,
      content,
      bytes: block.bytes,
      part,
      rejected,
      source: 'test.jsonl',
    },
    (table, rows) => sink.write(id, table, rows),
  )
  return partitionOf(id, content, {
    files: loaded.receipts.flatMap(({ files }) => files),
    records: part.members.length,
    quarantined: rejected.length,
    rows: Object.fromEntries(loaded.receipts.map(({ table, rows }) => [table, rows])),
    observed: loaded.observed,
  })
}

const partitionOf = (
  id: string,
  content: Content,
  {
    files,
    records,
    quarantined,
    rows,
    observed,
  }: Pick<PartitionEntry, 'files'> &
    Pick<PartitionEntry['counts'], 'records' | 'quarantined' | 'rows'> &
    Pick<PartitionEntry['range'], 'observed'>,
): PartitionEntry => ({
  id,
  run: 'run',
  content,
  source: {
    kind: 'file',
    name: 'test.jsonl',
    bytes: 0,
    sha256: '',
    block: 0,
    firstLine: 1,
    offset: 0,
    last: true,
  },
  range: { field: content === 'companies' ? 'ContentUpdatedAt' : 'UpdatedAt', requested: null, observed },
  counts: { lines: records + quarantined, records, quarantined, rows },
  files,
  drift: [],
})

const HEAD = {
  ...{ snapshot: 1, parent: null, run: 'run', pipeline: 'test', tool: 'test' },
  time: '2025-01-01T00:00:00Z',
}

const versionsOf = (
  lake: string,
  session: Session,
  { partitions, files }: Pick<Snapshot, 'partitions' | 'files'>,
): Promise<Snapshot['versions']> => {
  // Names of files ask for the id of a run.
  const writer = new PartWriter({ lake, run: '20250101T000000000Z-000000' }, randomBytes)
  return listVersions({ lake, session })({ before: null, partitions, files, writer })
}

const snapshotOf = async (
  lake: string,
  session: Session,
  loaded: { readonly partitions: readonly PartitionEntry[]; readonly files: readonly FileEntry[] },
): Promise<Snapshot> => {
  const { run } = HEAD
  const partitions = partitionsBy(HEAD, loaded.partitions)
  const files = committedBy(
    HEAD,
    loaded.files.map((file) => ({ ...file, run })),
    partitions.length + 1,
  )
  return {
    ...{ ...HEAD, partitions, files },
    versions: await versionsOf(lake, session, { partitions, files }),
  }
}

const quarantineOf = async (lake: string, snapshot: Snapshot): Promise<Row[]> => {
  const rows: Row[] = []
  for (const { path } of filesOf(snapshot, lake, 'quarantine')) {
    const text = await readFile(inLake(lake, path.slice(lake.length + 1)), 'utf8')
    rows.push(...text.split('\n').flatMap((line): Row[] => (line === '' ? [] : [JSON.parse(line)])))
  }
  return rows
}

const givenBackOf = async (lake: string, snapshot: Snapshot, content?: Content): Promise<string[]> => {
  const strings: string[] = []
  for await (const text of restoreRecords({ lake, snapshot, content, memoryBytes: MEMORY_BYTES }))
    strings.push(text)
  return strings
}
