/**
 * Restores the current records of a lake as they came, partition by partition in bounded memory: the inverse of loading. DuckDB
 * hands over columns, JavaScript writes the bytes.
 */

import type { Content } from '../contract/objects.ts'
import type { Snapshot } from '../core/partition.ts'
import { newSpillFolder } from '../lake/duckdb/database-files.ts'
import { Engine } from '../lake/duckdb/engine.ts'
import {
  type AccessOptions,
  type AccessReport,
  type FileAccess,
  openAccess,
} from '../lake/files/file-access.ts'
import { prepareRestore, type SessionRequest, type SliceRows, slicesOf } from '../lake/slices/slices.ts'
import { filesOfThisWork } from '../storage/check-files.ts'
import { ByteWriter } from '../support/buffers.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { FigureWriter, type Statements } from './financials-text.ts'
import type { CompanySeries } from './nested-series.ts'
import { ProfileReader } from './profile-texts.ts'
import { RelationsReader, type RelationText } from './relations.ts'
import { type ItemNames, SliceFigures, scaledItems } from './slice-figures.ts'

const { LINE_FEED, COMMA, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

export { prepareRestore, type SessionRequest } from '../lake/slices/slices.ts'

/**
 * A company's record in pieces of UTF-8, so that whoever lays it out knows where each stands. They stand until the next company
 * is asked for.
 */
export interface CompanyPieces extends Statements {
  readonly id: bigint
  /** JSON text of MetaData.CurrentCurrencyCode; undefined where the record has none. */
  readonly currency: Uint8Array | undefined
  /** Object text of MetaData's other members; undefined where there is none. */
  readonly meta: Uint8Array | undefined
  /** Object text of everything else but figures and Score: BasicDetails, EnhancedDetails, LinkedIn, unknown fields. */
  readonly rest: Uint8Array
  /** JSON text of Score. */
  readonly score: Uint8Array | undefined
  /** The company's figures, with the names of their line items. */
  readonly series: CompanySeries
  /** The company's headcounts: numbers are places in `CONSOLIDATIONS`. */
  readonly headcounts: CompanySeries
  readonly names: ItemNames
}

export interface RestoreRequest {
  /** Folder of the lake. */
  readonly lake: string
  readonly snapshot: Snapshot
  /** @default both, companies first */
  readonly content?: Content | undefined
  /** Only the records of these InternalIds. @default all */
  readonly ids?: readonly bigint[] | undefined
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** How far the fetch and check of files are. */
  readonly onFetch?: SessionRequest['onFetch']
  /** Reads a lake in a bucket in place where DuckDB's httpfs is there. @default copies */
  readonly inPlace?: AccessOptions['inPlace']
  /** Called with the costs of reading the lake, when all records were read. */
  readonly onRead?: ((report: AccessReport) => void) | undefined
}

/** JSON texts of the current records, one document each; equal as data to what came in. */
export async function* restoreRecords(request: RestoreRequest): AsyncGenerator<string> {
  for await (const lines of restoreLines(request)) yield* stringsOf(lines)
}

/** The texts of whole lines, without their ends. */
export function* stringsOf(lines: Buffer): Generator<string> {
  let from = 0
  for (let end = lines.indexOf(LINE_FEED); end >= 0; end = lines.indexOf(LINE_FEED, from)) {
    yield lines.toString('utf8', from, end)
    from = end + 1
  }
}

/** Lines are handed on together: each by itself would cost more than to write it. */
const LINES_BYTES = 1 << 18

/**
 * The current records as JSON Lines: whole lines with their ends, a quarter of a megabyte or more at once. The bytes stand until
 * the next ones are asked for: the same memory is used again.
 */
export async function* restoreLines(request: RestoreRequest): AsyncGenerator<Buffer> {
  const { content, memoryBytes, threads, inPlace, onRead, ...what } = request
  const spill = await newSpillFolder()
  const engine = await Engine.open({
    memoryBytes,
    ...(threads !== undefined && { threads }),
    spillFolder: spill.path,
    readsFromHere: inPlace === true,
  })
  const lines = new ByteWriter()
  let access: FileAccess | undefined
  try {
    const session = await engine.connect()
    access = await openAccess(session, what.lake, { known: filesOfThisWork(), inPlace })
    const inSession = { ...what, session, access, scratch: spill.path }
    await prepareRestore(inSession, content)
    if (content !== 'relations')
      for await (const companies of restoreCompanies(inSession))
        for (const company of companies) {
          appendCompany(lines, company)
          lines.byte(LINE_FEED)
          if (lines.length < LINES_BYTES) continue
          yield lines.written()
          lines.clear()
        }
    if (content !== 'companies')
      for await (const relations of restoreRelations(inSession))
        for (const { text } of relations) {
          lines.append(text)
          lines.byte(LINE_FEED)
          if (lines.length < LINES_BYTES) continue
          yield lines.written()
          lines.clear()
        }
    if (lines.length > 0) yield lines.written()
    onRead?.(access.report())
  } catch (error) {
    throw access?.errorOf(error) ?? error
  } finally {
    engine.close()
    access?.close()
    spill.remove()
  }
}

/** Figures of a slice stand in memory, 22 bytes each, and the profiles of its companies. */
const COMPANY_ROWS: SliceRows = { companies: 16_384, financials: 2_000_000, employees: 400_000 }

/** The current companies, partition by partition, in the order of `slicesOf`, within a slice by id. */
export async function* restoreCompanies(request: SessionRequest): AsyncGenerator<Iterable<CompanyPieces>> {
  const profiles = new ProfileReader()
  const figures = new SliceFigures()
  const { session } = request
  for await (const slice of slicesOf(request, 'companies', COMPANY_ROWS)) {
    const owners = await profiles.read(session, slice.filesOf('employees'))
    const isScaled = await scaledItems(session)
    const names = await figures.read({ files: slice.filesOf('financials'), owners, isScaled })
    yield companiesOf(profiles, figures, names, owners.length)
  }
}

function* companiesOf(
  profiles: ProfileReader,
  figures: SliceFigures,
  names: ItemNames,
  count: number,
): Generator<CompanyPieces> {
  const writer = new FigureWriter(names)
  for (let place = 0; place < count; place++) {
    const series = figures.of(place)
    const headcounts = profiles.headcounts(place)
    yield { ...profiles.at(place), ...writer.write(series), series, headcounts, names }
  }
}

/** Appends a company's record as one JSON document. */
export const appendCompany = (
  writer: ByteWriter,
  pieces: Omit<CompanyPieces, 'series' | 'headcounts' | 'names'>,
): void => {
  const { currency, meta, financials, unconsolidated, rest, score } = pieces
  const start = writer.length
  if (rest.length > NO_MEMBERS) writer.append(rest, 0, rest.length - 1)
  if (financials) appendPart(writer, NAMES.financials, financials)
  if (unconsolidated) appendPart(writer, NAMES.unconsolidated, unconsolidated)
  if (currency) {
    appendPart(writer, NAMES.metaWithCurrency, currency)
    if (meta) {
      writer.byte(COMMA)
      writer.append(meta, 1)
    } else writer.byte(CLOSE_BRACE)
  } else if (meta) appendPart(writer, NAMES.meta, meta)
  if (score) appendPart(writer, NAMES.score, score)
  if (writer.length === start) writer.byte(OPEN_BRACE)
  // Over the comma before the first member, where nothing stands before it.
  else writer.bytes[start] = OPEN_BRACE
  writer.byte(CLOSE_BRACE)
}

/** A comma, a name and its value. */
const appendPart = (writer: ByteWriter, name: Uint8Array, value: Uint8Array): void => {
  writer.append(name)
  writer.append(value)
}

const NO_MEMBERS = '{}'.length
const NAMES = {
  financials: Buffer.from(',"Financials":'),
  unconsolidated: Buffer.from(',"UnconsolidatedFinancials":'),
  meta: Buffer.from(',"MetaData":'),
  metaWithCurrency: Buffer.from(',"MetaData":{"CurrentCurrencyCode":'),
  score: Buffer.from(',"Score":'),
}

/** Objects of a slice stand in memory, some hundred bytes each. */
const RELATION_ROWS: SliceRows = {
  relations: 20_000,
  relation_entities: 30_000,
  ownerships: 60_000,
  roles: 60_000,
}

/** The current relations records, partition by partition, in the order of `slicesOf`. */
export async function* restoreRelations(request: SessionRequest): AsyncGenerator<Iterable<RelationText>> {
  const relations = new RelationsReader()
  for await (const _ of slicesOf(request, 'relations', RELATION_ROWS)) yield relations.read(request.session)
}
