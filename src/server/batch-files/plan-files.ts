/** How a serving index is cut into batch files: by content, country and a number of records each. */

import { BATCH_CONTENT, type BatchFileEntry } from '../../contract/listings.ts'
import type { Content } from '../../contract/objects.ts'
import type { Session } from '../../lake/duckdb/engine.ts'

/** Whom a file is for: `all` who may see its country, those with every area of it, or those who lack one. */
export type FileReaders = 'all' | 'every area' | 'fewer areas'

/** A file to be made: the records of a country with ids from `first` to `last`. */
export interface PlannedFile {
  readonly readers: FileReaders
  readonly content: Content
  readonly country: string | null
  readonly first: bigint
  readonly last: bigint
  readonly records: number
  /** Bytes of all documents with their line ends. */
  readonly documentBytes: number
  /** `companies-SE-0001` */
  readonly name: string
}

export const DOCUMENT_TABLES = {
  companies: 'serving.company',
  relations: 'serving.relation',
} as const satisfies Record<Content, string>

const cutSql = (content: Content): string => `
  WITH numbered AS (
    SELECT country_code, internal_id, bytes,
           is_plain AND internal_id NOT IN (FROM persons.company) AND internal_id NOT IN (SELECT unnest(json_transform($2, '["BIGINT"]'))) AS is_same,
           (row_number() OVER (PARTITION BY country_code ORDER BY internal_id) - 1) // $1::BIGINT AS file_no
    FROM ${DOCUMENT_TABLES[content]}
  )
  SELECT country_code, file_no::INTEGER AS file_no, min(internal_id)::VARCHAR AS first, max(internal_id)::VARCHAR AS last,
         count(*)::INTEGER AS records, sum(bytes + 1)::DOUBLE AS document_bytes, bool_and(is_same) AS is_same
  FROM numbered
  GROUP BY country_code, file_no
  ORDER BY country_code NULLS LAST, file_no`

/** A country in a file's name: what is no code of two letters, in hex. */
const countryName = (country: string | null): string => {
  if (country === null) return 'none'
  return /^[A-Z]{2}$/.test(country) ? country : `x${Buffer.from(country).toString('hex')}`
}

/** A file of relations holds every area. One of companies is made twice where a caller without an area sees less of it. */
const readersOf = (content: Content, isSame: boolean): readonly FileReaders[] => {
  if (content === 'relations') return ['every area']
  return isSame ? ['all'] : ['every area', 'fewer areas']
}

/** @param narrowed companies whose documents are not the same for all, though the contract has all of their fields */
export const planFiles = async (
  session: Session,
  content: Content,
  recordsPerFile: number,
  narrowed: readonly bigint[] = [],
): Promise<readonly PlannedFile[]> => {
  const rows = await session.rows(cutSql(content), [recordsPerFile, `[${narrowed.join()}]`])
  return rows.flatMap((row) => {
    const country = typeof row.country_code === 'string' ? row.country_code : null
    const number = String(Number(row.file_no) + 1).padStart(4, '0')
    const name = `${content}-${countryName(country)}-${number}`
    return readersOf(content, row.is_same === true).map((readers) => ({
      content,
      readers,
      country,
      first: BigInt(String(row.first)),
      last: BigInt(String(row.last)),
      records: Number(row.records),
      documentBytes: Number(row.document_bytes),
      name: readers === 'fewer areas' ? `${name}-contract` : name,
    }))
  })
}

export const entryOf = (
  file: PlannedFile,
  snapshot: number,
  createdAt: string,
  sizeBytes: number,
): BatchFileEntry => ({
  BatchFileId: `${snapshot}-${file.name}`,
  FileName: `${file.name}.jsonl.br`,
  Content: BATCH_CONTENT[file.content],
  ...(file.country !== null && { CountryCode: file.country }),
  CreatedAt: createdAt,
  SizeInBytes: sizeBytes,
  Count: file.records,
})
