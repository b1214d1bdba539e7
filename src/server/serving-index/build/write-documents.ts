/** Writes the three files of documents, and where each document stands as CSV for DuckDB to read back. */

import { join } from 'node:path'
import type { Session } from '../../../lake/duckdb/engine.ts'
import { restoreCompanies, restoreRelations, type SessionRequest } from '../../../load/restore/restore.ts'
import type { NamedFile } from '../../../manifest/file-list.ts'
import { type DocumentKind, documentFile } from '../index-form.ts'
import { writeCompany } from './company-document.ts'
import { DocumentWriter } from './document-writer.ts'
import { minifiedDocuments } from './minified-documents.ts'
import { CURRENT, type PlacesOf } from './search-tables.ts'

export interface WrittenDocuments {
  readonly records: Readonly<Record<DocumentKind, number>>
  /** The files of documents. */
  readonly files: readonly NamedFile[]
  /** Paths of the CSV files of places. */
  readonly places: PlacesOf
}

type Write = (documents: DocumentWriter, places: DocumentWriter) => AsyncIterable<number>

/** Documents that are plain texts with their ids. */
type Texts = AsyncIterable<readonly { readonly id: unknown; readonly text: string }[]>

const writeTexts = (chunks: Texts): Write =>
  async function* (documents, places) {
    for await (const chunk of chunks) {
      for (const { id, text } of chunk) {
        const { at } = documents
        documents.beginDocument()
        const bytes = documents.write(text)
        places.write(`${id},${at},${bytes},${documents.crc32}\n`)
        documents.write('\n')
      }
      yield chunk.length
    }
  }

const writeCompanies = (request: SessionRequest): Write =>
  async function* (documents, places) {
    for await (const companies of restoreCompanies(request)) {
      let records = 0
      for (const company of companies) {
        const place = writeCompany(documents, company)
        const { at, bytes, crc32, currencyAt, figuresAt, figuresBytes, scoreBytes } = place
        places.write(
          `${company.id},${at},${bytes},${crc32},${currencyAt ?? ''},${figuresAt},${figuresBytes},${scoreBytes}\n`,
        )
        records += 1
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
 * @param into the folder for the documents, and one for their places
 * @param onWritten is told how many records of a kind are written so far
 */
export const writeDocuments = async (
  request: SessionRequest,
  { folder, aside }: { readonly folder: string; readonly aside: string },
  onWritten: (kind: DocumentKind, records: number) => void,
): Promise<WrittenDocuments> => {
  const { session, signal } = request
  const files: NamedFile[] = []
  const writeKind = async (kind: DocumentKind, write: Write): Promise<number> => {
    const documents = new DocumentWriter(join(folder, documentFile(kind)))
    const places = new DocumentWriter(placesPath(aside, kind))
    try {
      let records = 0
      for await (const more of write(documents, places)) {
        signal?.throwIfAborted()
        records += more
        onWritten(kind, records)
      }
      files.push({ name: documentFile(kind), ...documents.finish() })
      places.finish()
      return records
    } finally {
      documents.close()
      places.close()
    }
  }
  const records = {
    companies: await writeKind('companies', writeCompanies(request)),
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
