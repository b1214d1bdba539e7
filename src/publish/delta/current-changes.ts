/**
 * The changes that a snapshot of the lake makes in a Delta table of current rows. Its files are pieces: the current rows
 * of one file of the lake, of a range of ids, so that a piece is written again only when it lost rows. A piece that is a
 * whole file of the lake is another name of it.
 */

import { randomBytes } from 'node:crypto'
import { copyFile, link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import { ident, pathSql, readParquet } from '../../lake/duckdb/sql.ts'
import { publishedHashPath, recordedHash } from '../../lake/files/layout.ts'
import { rowGroupRows } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { fsyncFile } from '../../support/durable-files.ts'
import { adoptFile } from '../../support/file-modes.ts'
import { hashFile } from '../../support/hash.ts'
import { type FileStatistics, measureLocal } from '../file-statistics.ts'
import { readRecordedHash } from '../published-storage.ts'
import { type CountedFile, type IdRange, sinceShown } from '../superseded-rows.ts'
import type { TableFile } from '../table-files.ts'
import { type AddedFile, addedFile } from './actions.ts'
import type { FindChanges, RemovedFile, TableState } from './table-changes.ts'

const ENDING = '.parquet'

/** Bytes of a piece: the fewer, the less a night writes again, and the more files a reader opens. */
const MIN_PIECE_BYTES = 512 * 1024
const MOST_PIECE_BYTES = 10 * 1024 * 1024
/** Pieces of a table whose pieces are neither least nor most. */
const USUAL_PIECES = 512

/**
 * Number of pieces that a file is cut into, none of which has more than 16 MB.
 *
 * @param bytes of the file's current rows
 * @param tableBytes of all files of its table
 */
export const piecesOf = (bytes: number, tableBytes: number): number => {
  const pieceBytes = Math.min(Math.max(tableBytes / USUAL_PIECES, MIN_PIECE_BYTES), MOST_PIECE_BYTES)
  return Math.max(1, Math.round(bytes / pieceBytes))
}

/** A piece as its name says it: `<run>/<file of the lake>_<first id>_<last id>-<64 random bits>.parquet`. */
interface PieceName {
  /** `<run>/<file>`. */
  readonly source: string
  readonly ids?: IdRange | undefined
}

const PIECE = /^(.*?)(?:_(-?\d+)_(-?\d+))?-[0-9a-f]{16}\.parquet$/

export const parsePiece = (name: string): PieceName => {
  const [, source = name, first, last] = PIECE.exec(name) ?? []
  const ids = first && last ? { first: BigInt(first), last: BigInt(last) } : undefined
  return { source, ids }
}

const sourceOf = ({ run, name }: Pick<TableFile, 'run' | 'name'>): string =>
  `${run}/${name.slice(name.lastIndexOf('/') + 1, -ENDING.length)}`

const rangeIn = ({ owner = '' }: Table, statistics: FileStatistics): string => {
  const { min, max } = statistics.get(owner) ?? {}
  return min === undefined || max === undefined ? '' : `_${min}_${max}`
}

/** The file as a whole. Its bytes are there already: another name is enough. */
const takeWhole = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to)
  } catch {
    // Another file system, or one without links.
    await copyFile(from, to)
    await fsyncFile(to)
  }
}

/** A piece on this machine. */
interface LocalPiece extends Pick<FileFacts, 'bytes' | 'sha256'> {
  readonly rows: number
}

/** Writes the current rows of a file for which a condition holds; `null` where there are none. */
const copyCurrent = async (
  { context: { session, signal }, table: { columns } }: TableState,
  { place, positions }: CountedFile,
  condition: string,
  local: string,
): Promise<LocalPiece | null> => {
  const groupRows = rowGroupRows(columns)
  const { rows } = await session.copy(
    `SELECT f.* EXCLUDE (file_row_number) FROM ${readParquet(pathSql(place), 'file_row_number = true')} AS f
ANTI JOIN (${positions('all')}) AS s ON s.pos = f.file_row_number
WHERE ${condition}`,
    local,
    { kind: 'parquet', ...(groupRows !== undefined && { rowGroupRows: groupRows }) },
  )
  try {
    if (rows === 0) {
      await rm(local)
      return null
    }
    await adoptFile(local)
    await fsyncFile(local)
    return { rows, ...(await hashFile(local, { signal })) }
  } catch (error) {
    throw writeError(`Cannot write "${local}"`, error)
  }
}

/** Gives a piece its place. Nobody reads it before the log names it. */
const placePiece = async (
  { context, table, log }: TableState,
  source: TableFile,
  local: string,
  { bytes, sha256, rows }: LocalPiece,
): Promise<AddedFile> => {
  const statistics = await measureLocal(context.session, table, local, rows)
  const name = `${sourceOf(source)}${rangeIn(table, statistics)}-${randomBytes(8).toString('hex')}${ENDING}`
  const facts = { path: `${log.form.root}/${name}`, bytes, sha256 }
  const storage = storageOf(context.lake)
  await storage.stage(local, facts)
  await storage.publish([{ from: local, to: facts.path }])
  await storage.replace(publishedHashPath(facts.path), recordedHash(sha256))
  return addedFile({ file: { ...source, ...facts, name, version: 0, rows }, statistics })
}

/** Conditions that cut a file into so many pieces of about the same number of rows. */
const cutsOf = async (
  { context: { session }, table: { owner } }: TableState,
  place: string,
  pieces: number,
): Promise<readonly string[]> => {
  if (owner === undefined || pieces === 1) return ['true']
  const shares = Array.from({ length: pieces - 1 }, (_, at) => (at + 1) / pieces)
  const [row] = await session.rows(
    `SELECT list_distinct(approx_quantile(${ident(owner)}, [${shares.join(', ')}])) AS ids
FROM ${readParquet(pathSql(place))}`,
  )
  const ids = (Array.isArray(row?.ids) ? row.ids.map(String).map(BigInt) : []).sort((a, b) =>
    a < b ? -1 : 1,
  )
  const id = `f.${ident(owner)}`
  return [...ids, undefined].map((end, at) => {
    const from = at === 0 ? undefined : ids[at - 1]
    const ends = [from === undefined ? [] : `${id} >= ${from}`, end === undefined ? [] : `${id} < ${end}`]
    return ends.flat().join(' AND ') || 'true'
  })
}

/** Writes the pieces of a file of the lake, or a piece again. */
const writePieces = async (
  state: TableState,
  counted: CountedFile,
  source: TableFile,
  pieces: number,
): Promise<readonly AddedFile[]> => {
  const { scratch, signal } = state.context
  const { file, place, superseded } = counted
  const local = (): string => join(scratch, `${randomBytes(8).toString('hex')}${ENDING}`)
  if (superseded === 0 && pieces === 1) {
    const whole = local()
    await takeWhole(place, whole).catch((error: unknown) => {
      throw writeError(`Cannot write "${whole}"`, error)
    })
    return [await placePiece(state, source, whole, file)]
  }
  const added: AddedFile[] = []
  for (const condition of await cutsOf(state, place, pieces)) {
    signal?.throwIfAborted()
    const path = local()
    const piece = await copyCurrent(state, counted, condition, path)
    if (piece) added.push(await placePiece(state, source, path, piece))
  }
  return added
}

/** A piece that the table has. */
interface Piece extends RemovedFile {
  readonly source: TableFile
  readonly version: number
  readonly ids: IdRange | undefined
}

/** The pieces of the files that the lake has. */
const piecesIn = (logged: readonly RemovedFile[], files: readonly TableFile[]): readonly Piece[] => {
  const sources = new Map(files.map((file) => [sourceOf(file), file]))
  return logged.flatMap((one) => {
    const { source: name, ids } = parsePiece(one.name)
    const source = sources.get(name)
    return source === undefined ? [] : [{ ...one, source, version: source.version, ids }]
  })
}

/** A piece as a file that can be read. */
const pieceFile = async ({ context, log }: TableState, { name, file, source }: Piece): Promise<TableFile> => {
  const path = `${log.form.root}/${name}`
  const sha256 = await readRecordedHash(context.lake, path)
  return { ...source, name, path, bytes: file.bytes, sha256 }
}

export const currentChanges: FindChanges = async (state, snapshot) => {
  const { context, table, log } = state
  const since = await sinceShown(snapshot, log.shown)
  const logged = [...(await log.files())].map(([name, file]): RemovedFile => ({ name, file }))
  const files = await snapshot.files()
  const tableBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const asked = { table, snapshot, since: since?.since ?? 0 }
  const sources = new Set(files.map(sourceOf))
  const isGone = ({ name }: RemovedFile): boolean => since === null || !sources.has(parsePiece(name).source)
  const removed: RemovedFile[] = since === null || since.isRearranged ? logged.filter(isGone) : []
  const added: AddedFile[] = []
  if (since !== null) {
    const touched = await context.superseded.touched(asked, piecesIn(logged, files))
    const byPath = new Map<string, Piece>()
    const read: TableFile[] = []
    for (const piece of touched) {
      const file = await pieceFile(state, piece)
      byPath.set(file.path, piece)
      read.push(file)
    }
    await context.superseded.count(asked, read, async (some) => {
      for (const counted of some) {
        const piece = byPath.get(counted.file.path)
        if (piece === undefined || counted.fresh === 0) continue
        removed.push(piece)
        added.push(...(await writePieces(state, counted, piece.source, 1)))
      }
    })
  }
  const come = files.filter(({ path }) => since === null || since.added.has(path))
  await context.superseded.count(asked, come, async (some) => {
    for (const counted of some) {
      const { file, superseded } = counted
      const bytes = file.bytes * (1 - superseded / Math.max(file.rows, 1))
      added.push(...(await writePieces(state, counted, file, piecesOf(bytes, tableBytes))))
    }
  })
  const written = added.map(({ file }) => file.path)
  await storageOf(context.lake).sync(written)
  const changesRows = !since?.isRearranged
  return { files: added, added: added.length, removed, changesRows, always: true, written }
}
