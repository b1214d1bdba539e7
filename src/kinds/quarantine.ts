/** Quarantined lines: listed, and loaded again after a fix. */

import type { Content } from '../contract/objects.ts'
import { DECODE_LIMITS } from '../core/decode-limits.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Block, LinePlace, OverlongLine } from '../core/lines.ts'
import type { FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import type { Source } from '../core/source.ts'
import { isReplay } from '../core/source-kinds.ts'
import { Engine } from '../lake/duckdb/engine.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { fetchFiles } from '../lake/files/fetch-tables.ts'
import { inLake, stagedPath } from '../lake/files/layout.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { readQuarantine } from '../lake/views/current-versions.ts'
import { loadedPartitions } from '../manifest/form/sources.ts'
import { readAllWork } from '../manifest/runs/journal.ts'
import { isUnfinished } from '../manifest/runs/shared-commits.ts'
import { readTableListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { holdsRun, newestRoot, readRoot } from '../manifest/snapshots/snapshots.ts'
import { damagedFile, findMisfits } from '../storage/check-files.ts'
import type { FileFacts } from '../storage/storage.ts'
import { statPath } from '../support/list-files.ts'

/** A quarantined line as it is listed. */
export interface QuarantinedLine {
  readonly partition: string
  readonly source: string
  readonly content: Content
  readonly line: number
  readonly byte_offset: number
  readonly size_bytes: number
  readonly code: string
  readonly reason: string
  /** The original line; `null` where it is no UTF-8, then `raw_base64` has it. */
  readonly raw: string | null
  readonly raw_base64: string | null
}

/** A quarantine file of a lake and the partition whose lines it holds. */
export interface QuarantineFile extends FileFacts {
  readonly lake: string
  /** The file's path on this machine as long as its run is not committed; it may be in its place already. */
  readonly staged?: string
  readonly partition: PartitionEntry
}

/** The path of a quarantine file on this machine, where it can be read. @throws {ToolkitError} LAKE_DAMAGED */
const fetchFile = async (file: QuarantineFile): Promise<string> => {
  const { lake, path, staged } = file
  if (staged !== undefined && (await statPath(staged))) {
    const [misfit] = await findMisfits([file], () => staged, {})
    if (misfit) throw damagedFile(misfit)
    return staged
  }
  await fetchFiles(lake, [file])
  return inLake(lake, path)
}

const quarantinesOf = ({ files }: PartitionEntry): readonly FileEntry[] =>
  files.filter(({ table }) => table === QUARANTINE.name)

/** The quarantine files of a snapshot whose lines still wait: a replay that loaded some replaces the file. */
export const waitingFiles = (
  snapshot: Pick<Snapshot, 'partitions' | 'merged'>,
  lake: string,
): readonly QuarantineFile[] => {
  const partitions = loadedPartitions(snapshot)
  const replayed = new Set(partitions.flatMap(({ source }) => (isReplay(source) ? [source.sha256] : [])))
  return partitions.flatMap((partition) =>
    quarantinesOf(partition)
      .filter(({ sha256 }) => !replayed.has(sha256))
      .map(({ path, bytes, sha256 }) => ({ lake, path, bytes, sha256, partition })),
  )
}

/** The quarantine files of a run that is not committed, for one that was refused. @throws {ToolkitError} RUN_NOT_FOUND */
export const waitingFilesOfRun = async (lake: string, run: string): Promise<readonly QuarantineFile[]> => {
  const { entries } = await readAllWork(lake, run)
  return entries.flatMap(({ partition }) =>
    quarantinesOf(partition).map(({ path, bytes, sha256 }) => {
      const staged = inLake(lake, stagedPath(run, { table: QUARANTINE.name, path }))
      return { lake, path, bytes, sha256, staged, partition }
    }),
  )
}

/** Lines of quarantine files in the order of sources and lines, chunk by chunk. */
export async function* listQuarantine(
  files: readonly QuarantineFile[],
): AsyncGenerator<readonly QuarantinedLine[]> {
  if (files.length === 0) return
  const engine = await Engine.open({ memoryBytes: LIST_MEMORY_BYTES, threads: 1 })
  try {
    const session = await engine.connect()
    for (const file of files) {
      const lines = readQuarantine([{ path: await fetchFile(file), bytes: file.bytes }])
      const order = inOrderOf(file.partition)
      for await (const rows of session.stream(`SELECT * FROM (${lines}) ORDER BY ${order}line`)) {
        yield rows.map(asLine)
      }
    }
  } finally {
    engine.close()
  }
}
/** Small sources stand one after the other in the partition that they share. */
const inOrderOf = ({ sources = [] }: PartitionEntry): string =>
  sources.length > 0
    ? `list_position([${sources.map(({ name }) => literal(name)).join(', ')}], source), `
    : ''
const LIST_MEMORY_BYTES = 768 * 1024 * 1024

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const asLine = (row: Readonly<Record<string, unknown>>): QuarantinedLine => ({
  partition: String(row.partition),
  source: String(row.source),
  content: row.content === 'relations' ? 'relations' : 'companies',
  line: Number(row.line),
  byte_offset: Number(row.byte_offset),
  size_bytes: Number(row.size_bytes),
  code: String(row.code),
  reason: String(row.reason),
  raw: textOrNull(row.raw),
  raw_base64: textOrNull(row.raw_base64),
})

/** Quarantine files as sources of a run. Their lines keep the name, number and offset of where they came from. */
export const quarantineSources = (
  files: readonly QuarantineFile[],
  blockBytes: number | undefined,
): readonly Source[] =>
  files.map((file) => ({
    kind: 'quarantine',
    name: file.partition.source.name,
    content: file.partition.content,
    ...(file.partition.asOf !== undefined && { asOf: file.partition.asOf }),
    sizeBytes: file.bytes,
    fingerprint: async () => ({ bytes: file.bytes, sha256: file.sha256 }),
    blocks: () => quarantineBlocks(file, blockBytes),
    open: async function* () {
      // A file's lines are read as rows, as blocks.
    },
  }))

/**
 * The lines of a quarantine file as blocks. A line that was too long to be kept whole stays too long. Small sources that shared
 * the partition have instants of their own: the lines of each such instant are a block.
 */
async function* quarantineBlocks(
  file: QuarantineFile,
  blockBytes: number = DECODE_LIMITS.blockBytes,
): AsyncGenerator<Block> {
  let pieces: Buffer[] = []
  let places: LinePlace[] = []
  let overlong: OverlongLine[] = []
  let size = 0
  const instants = new Map(file.partition.sources?.map(({ name, asOf }) => [name, asOf]))
  let asOf: string | undefined
  const close = (): Block => {
    const [first] = places.length > 0 ? places : overlong
    const block: Block = {
      bytes: Buffer.concat(pieces),
      firstLine: first?.line ?? 1,
      offset: first?.offset ?? 0,
      places,
      overlong,
      asOf,
    }
    pieces = []
    places = []
    overlong = []
    size = 0
    return block
  }
  for await (const lines of listQuarantine([file])) {
    for (const { source, line, byte_offset: offset, size_bytes: sizeBytes, raw, raw_base64 } of lines) {
      if (raw === null && raw_base64 === null) throw textNotKept(file, line)
      const own = instants.get(source)
      if (own !== asOf && places.length + overlong.length > 0) yield close()
      asOf = own
      const bytes = raw === null ? Buffer.from(raw_base64 ?? '', 'base64') : Buffer.from(raw)
      if (bytes.length < sizeBytes) overlong.push({ source, line, offset, sizeBytes, head: bytes })
      else {
        pieces.push(bytes, NEWLINE)
        places.push({ source, line, offset })
        size += bytes.length + 1
      }
      if (size >= blockBytes) yield close()
    }
  }
  if (places.length > 0 || overlong.length > 0) yield close()
}
const NEWLINE = Buffer.from('\n')

const textNotKept = ({ partition }: QuarantineFile, line: number): ToolkitError =>
  new ToolkitError(
    'TEXT_REDACTED',
    `Cannot load line ${line} of "${partition.source.name}" again: its text was not kept, because the lake leaves data out; ` +
      'mend the source and load that again with --again',
    { line },
  )

interface QuarantineChoice {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** A run of the newest snapshot, or one that was refused and waits. */
  readonly run?: string | undefined
}

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, RUN_NOT_FOUND */
export const quarantineFiles = async ({
  lake,
  snapshot: number,
  run,
}: QuarantineChoice): Promise<readonly QuarantineFile[]> => {
  if (run !== undefined && (await isUnfinished(lake, run))) return waitingFilesOfRun(lake, run)
  const root = await (run === undefined ? readRoot(lake, number) : rootWith(lake, number, run))
  const files = waitingFiles(await readTableListed(lake, root, QUARANTINE), lake)
  return run === undefined ? files : files.filter(({ partition }) => partition.run === run)
}

/** A snapshot, by default the newest, that holds a run. @throws {ToolkitError} as `quarantineFiles` */
const rootWith = async (lake: string, number: number | undefined, run: string): Promise<SnapshotRoot> => {
  const root = number === undefined ? await newestRoot(lake) : await readRoot(lake, number)
  if (root && (await holdsRun(lake, root, run))) return root
  throw new ToolkitError(
    'RUN_NOT_FOUND',
    `Cannot list the quarantine of run "${run}": it is neither unfinished nor in the lake`,
    { run },
  )
}
