/**
 * Writes the three files of documents of a segment, where each document stands as CSV for DuckDB to read back, and hands on the
 * figures of the companies, which come with them.
 */

import { join } from 'node:path'
import type { Session } from '../../../lake/duckdb/engine.ts'
import type { NamedFile } from '../../../manifest/form/file-list.ts'
import { restoreCompanies, restoreRelations, type SessionRequest } from '../../../restore/restore.ts'
import { BLOCK_BYTES, type DocumentKind, type DocumentPlace, documentFile } from '../index-form.ts'
import { writeCompany } from './company-document.ts'
import { DocumentWriter } from './document-writer.ts'
import type { FigureFile } from './figure-file.ts'
import { LineFile } from './line-file.ts'
import { minifiedDocuments } from './minified-documents.ts'
import { CURRENT, type PlacesOf } from './search-tables.ts'

export interface WrittenDocuments {
  readonly records: Readonly<Record<DocumentKind, number>>
  /** The files of documents. */
  readonly files: readonly NamedFile[]
  /** Paths of the CSV files of places. */
  readonly places: PlacesOf
}

/** What is written of one kind. */
interface Target {
  readonly documents: DocumentWriter
  readonly places: LineFile
}
/** Gives how many records were written, again and again. */
type Write = (target: Target) => AsyncIterable<number>

/** Documents that are plain texts with their ids. */
type Texts = AsyncIterable<readonly { readonly id: unknown; readonly text: string }[]>

type WrittenPlace = Omit<DocumentPlace, 'segment'>
const placeText = ({ blockAt, blockBytes, at, bytes, crc32 }: WrittenPlace): string =>
  `${blockAt},${blockBytes},${at},${bytes},${crc32}`

const writeTexts = (chunks: Texts): Write =>
  async function* ({ documents, places }) {
    for await (const chunk of chunks) {
      for (const { id, text } of chunk) {
        documents.write(text)
        documents.endDocument((place) => places.add(`${id},${placeText(place)}`))
        await documents.room()
      }
      yield chunk.length
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

async function* minifiedTexts(session: Session): Texts {
  const sql = `${minifiedDocuments(CURRENT.companies)} ORDER BY internal_id`
  for await (const [ids = [], texts = []] of session.streamColumns(sql))
    yield ids.map((id, at) => ({ id, text: String(texts[at]) }))
}

/**
 * @param figures takes the figures of the companies
 * @param into the folder for the documents, and one for their places; the name of the segment
 * @param onWritten is told how many records of a kind are written so far
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
    relations: await writeKind('relations', writeTexts(restoreRelations(request))),
    minified: await writeKind('minified', writeTexts(minifiedTexts(session))),
  }
  const places = {
    companies: placesPath(aside, 'companies'),
    relations: placesPath(aside, 'relations'),
    minified: placesPath(aside, 'minified'),
  }
  return { records, files, places }
}

const placesPath = (folder: string, kind: DocumentKind): string => join(folder, `places-${kind}.csv`)
