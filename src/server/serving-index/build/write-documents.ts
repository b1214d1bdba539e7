/**
 * Writes the three files of documents of a segment, where each document stands as CSV for DuckDB to read back, and hands on the
 * figures of the companies, which come with them.
 */

import { join } from 'node:path'
import type { Field } from '../../../contract/fields.ts'
import { MINIFIED_INFO } from '../../../contract/objects.ts'
import type { Session } from '../../../lake/duckdb/engine.ts'
import { ident, literal } from '../../../lake/duckdb/sql.ts'
import { COMPANY_COLUMNS, type FieldColumn } from '../../../lake/tables/columns.ts'
import { jsonMember, objectText, valueText } from '../../../lake/tables/value-sql.ts'
import type { NamedFile } from '../../../manifest/form/file-list.ts'
import {
  type CompanyPieces,
  restoreCompanies,
  restoreRelations,
  type SessionRequest,
} from '../../../restore/restore.ts'
import {
  BLOCK_BYTES,
  type CompanyPlace,
  type DocumentKind,
  type DocumentPlace,
  documentFile,
} from '../index-form.ts'
import { DocumentWriter } from './document-writer.ts'
import type { FigureFile } from './figure-file.ts'
import { LineFile } from './line-file.ts'
import { CURRENT, type PlacesOf } from './search-tables.ts'

export interface WrittenDocuments {
  readonly records: Readonly<Record<DocumentKind, number>>
  /** The files of documents. */
  readonly files: readonly NamedFile[]
  /** Paths of the CSV files of places. */
  readonly places: PlacesOf
}

/** The output of one kind of document. */
interface Target {
  readonly documents: DocumentWriter
  readonly places: LineFile
}
/** Gives how many records were written, again and again. */
type Write = (target: Target) => AsyncIterable<number>

/** Documents that are plain texts with their ids. */
type Strings = AsyncIterable<Iterable<{ readonly id: unknown; readonly text: string | Uint8Array }>>

type WrittenPlace = Omit<DocumentPlace, 'segment'>
const placeText = ({ blockAt, blockBytes, at, bytes, crc32 }: WrittenPlace): string =>
  `${blockAt},${blockBytes},${at},${bytes},${crc32}`

const writeStrings = (chunks: Strings): Write =>
  async function* ({ documents, places }) {
    for await (const chunk of chunks) {
      let records = 0
      for (const { id, text } of chunk) {
        records += 1
        documents.write(text)
        documents.endDocument((place) => places.add(`${id},${placeText(place)}`))
        await documents.room()
      }
      yield records
    }
  }

const writeCompanies = (request: SessionRequest, figures: FigureFile): Write =>
  async function* ({ documents, places }) {
    for await (const companies of restoreCompanies(request)) {
      let records = 0
      for (const company of companies) {
        const { id } = company
        const { currencyAt, figuresAt, figuresBytes, scoreBytes } = writeCompany(documents, company)
        documents.endDocument((place) =>
          places.add(
            `${id},${placeText(place)},${currencyAt ?? ''},${figuresAt},${figuresBytes},${scoreBytes}`,
          ),
        )
        figures.add(company)
        records += 1
        await documents.room()
      }
      yield records
    }
  }

async function* minifiedStrings(session: Session): Strings {
  const sql = `${minifiedDocuments(CURRENT.companies)} ORDER BY internal_id`
  for await (const [ids = [], strings = []] of session.streamColumns(sql))
    yield ids.map((id, at) => ({ id, text: String(strings[at]) }))
}

/**
 * @param figures takes the figures of the companies
 * @param into the folder for the documents, and one for their places; the name of the segment
 * @param onWritten is called with how many records of a kind are written so far
 */
export const writeDocuments = async (
  request: SessionRequest,
  figures: FigureFile,
  { folder, aside, name }: { readonly folder: string; readonly aside: string; readonly name: string },
  onWritten: (kind: DocumentKind, records: number) => void,
): Promise<WrittenDocuments> => {
  const { session, signal } = request
  const files: NamedFile[] = []
  const writeKind = async (kind: DocumentKind, write: Write): Promise<number> => {
    const file = documentFile(kind, name)
    const documents = new DocumentWriter(join(folder, file), BLOCK_BYTES[kind])
    const places = new LineFile(placesPath(aside, kind))
    try {
      let records = 0
      for await (const more of write({ documents, places })) {
        signal?.throwIfAborted()
        records += more
        onWritten(kind, records)
      }
      files.push({ name: file, ...(await documents.finish()) })
      places.finish()
      return records
    } finally {
      documents.close()
      places.close()
    }
  }
  const records = {
    companies: await writeKind('companies', writeCompanies(request, figures)),
    relations: await writeKind('relations', writeStrings(restoreRelations(request))),
    minified: await writeKind('minified', writeStrings(minifiedStrings(session))),
  }
  const places = {
    companies: placesPath(aside, 'companies'),
    relations: placesPath(aside, 'relations'),
    minified: placesPath(aside, 'minified'),
  }
  return { records, files, places }
}

const placesPath = (folder: string, kind: DocumentKind): string => join(folder, `places-${kind}.csv`)

// Writes a company's document so that the pieces that answers replace can be found again.

/** Places of the pieces in a company's document. */
export type CompanyOffsets = Pick<CompanyPlace, 'currencyAt' | 'figuresAt' | 'figuresBytes' | 'scoreBytes'>

const writeFigures = (writer: DocumentWriter, { financials, unconsolidated }: CompanyPieces): number => {
  let bytes = 0
  if (financials) bytes += writer.write('"Financials":') + writer.write(financials)
  if (financials && unconsolidated) bytes += writer.write(',')
  if (unconsolidated) bytes += writer.write('"UnconsolidatedFinancials":') + writer.write(unconsolidated)
  return bytes
}

/** Members of an object's text, without its braces. */
const membersOf = (object: Uint8Array): Uint8Array => object.subarray(1, -1)

const CURRENCY = '"CurrentCurrencyCode":'

/** Writes one document. */
export const writeCompany = (writer: DocumentWriter, company: CompanyPieces): CompanyOffsets => {
  const { currency, meta, rest, score } = company
  let currencyAt: number | null = null
  writer.write('{')
  if (currency !== undefined || meta !== undefined) {
    writer.write('"MetaData":{')
    if (currency !== undefined) {
      writer.write(CURRENCY)
      currencyAt = writer.at
      writer.write(currency)
      if (meta !== undefined) writer.write(',')
    }
    if (meta !== undefined) writer.write(membersOf(meta))
    writer.write('},')
  }
  const figuresAt = writer.at
  const figuresBytes = writeFigures(writer, company)
  // The rest always has the company's id, so there is a member behind every comma.
  if (figuresBytes > 0) writer.write(',')
  writer.write(membersOf(rest))
  const scoreBytes = score === undefined ? 0 : writer.write(',"Score":') + writer.write(score)
  writer.write('}')
  return { currencyAt, figuresAt, figuresBytes, scoreBytes }
}

// `{"MinifiedInfo":{…}}` of every company, from the columns of the full record's fields.

const PARTS = ['BasicDetails', 'MetaData', 'EnhancedDetails']

/** The column of the field of the same name, letter case aside, in the first part that has one. */
const columnOf = (name: string): FieldColumn => {
  const found = PARTS.flatMap((part) =>
    COMPANY_COLUMNS.filter(
      ({ path }) => path.length === 2 && path[0] === part && path[1]?.toLowerCase() === name.toLowerCase(),
    ),
  )[0]
  if (found === undefined) throw new TypeError(`Cannot find the column of MinifiedInfo.${name}`)
  return found
}

const fieldText = (field: Field, column: FieldColumn): string => {
  const value = ident(column.name)
  if (field.kind === 'date-time') {
    // As it was reported, where the instant does not give that back.
    const reported = literal(`$.${column.path.map((name) => `"${name}"`).join('.')}`)
    return `coalesce(json_extract(as_reported, ${reported})::VARCHAR, ${valueText(field, value)})`
  }
  return valueText(field, field.omitted === 'zero' ? `nullif(${value}, 0)` : value)
}

/** `internal_id, document`. @param companies a relation with the columns of the lake's `companies` */
export const minifiedDocuments = (companies: string): string => {
  const members = Object.entries(MINIFIED_INFO.fields).map(([name, field]) =>
    jsonMember(name, fieldText(field, columnOf(name))),
  )
  return `SELECT internal_id, ${objectText([jsonMember('MinifiedInfo', objectText(members))])} AS document FROM ${companies}`
}
