/**
 * What a serving index is: the current records of one snapshot laid out for answering searches. Three files of
 * documents (JSON Lines, read by place), and a DuckDB file with what filters, sorting and text search need.
 */

import { LINE_ITEMS } from '../../contract/line-items.ts'
import { CONTENT, type Content, MINIFIED_INFO } from '../../contract/objects.ts'
import { FILTER_CLASSES } from '../../contract/requests.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { sha256Of } from '../../support/hash.ts'

/**
 * Raised when an index is made in another way; what follows from the contract and from the tables below stands in
 * `INDEX_CONTRACT`. An index of another version or contract is made again.
 */
export const INDEX_VERSION = 3

/** The files of documents. A line of `minified` is `{"MinifiedInfo":{…}}`. */
export type DocumentKind = Content | 'minified'
export const documentFile = (kind: DocumentKind): string => `${kind}.jsonl`
export const SEARCH_FILE = 'search.duckdb'
/** A folder without it is no index. */
export const DESCRIPTION_FILE = 'copy.json'

export interface IndexDescription {
  readonly version: number
  /** `INDEX_CONTRACT` of the maker. */
  readonly contract: string
  readonly snapshot: number
  /** `Snapshot.time` of the snapshot: `CreatedAt` of batch files made from it. */
  readonly snapshotTime: string
  /** SHA-256 of the snapshot's file. */
  readonly snapshotSha256: string
  readonly records: Readonly<Record<Content, number>>
  /** Name and dimensions of what made the embeddings. */
  readonly embedder: { readonly name: string; readonly dimensions: number }
}

/** Where a document stands in its file, in bytes, and the CRC-32 of these bytes: one that is damaged is never sent. */
export interface DocumentPlace {
  readonly at: number
  readonly bytes: number
  readonly crc32: number
}

/**
 * A company's document in pieces: what a currency conversion replaces, and the Score that only some answers have.
 * Document: `{"MetaData":{"CurrentCurrencyCode":"USD",…},"Financials":{…},"UnconsolidatedFinancials":{…},"BasicDetails":…,"Score":1.5}`
 */
export interface CompanyPlace extends DocumentPlace {
  /** CurrentCurrencyCode of the record; `null` where it has none. */
  readonly currency: string | null
  /** Offset in the document of the currency's JSON text with its quotes; `null` where there is none. */
  readonly currencyAt: number | null
  /** The members `"Financials":{…},"UnconsolidatedFinancials":{…}` without a comma around them; 0 bytes for none. */
  readonly figuresAt: number
  readonly figuresBytes: number
  /** Bytes of `,"Score":1.5` before the last brace, 0 for none. */
  readonly scoreBytes: number
}

/** What the figure parameters mean beside the line items. */
export const EMPLOYEES = 'Employees'
/** Names of figures, in the order of the table. */
export const FIGURE_NAMES: readonly string[] = [
  ...LINE_ITEMS.map(({ lineItem }) => lineItem),
  EMPLOYEES,
].sort()
const FIGURE_TYPE = `ENUM (${FIGURE_NAMES.map(literal).join(', ')})`
/**
 * A name as `figure.line_item` is to be compared with it. With a plain text, DuckDB would compare the texts of all
 * rows instead of looking at the zone maps.
 */
export const figureNamed = (name: string): string => `${literal(name)}::${FIGURE_TYPE}`

/**
 * Tables of the DuckDB file, attached as `copy`. All are sorted so that their zone maps help: `company`, `relation`,
 * `embedding` by internal_id, `figure` by line_item, the latest figures before the others, fiscal_year and
 * internal_id, `posting` by term and internal_id, `person` by national_id. Dates are instants in UTC. `at` is a word of
 * DuckDB's grammar: it needs quotes or its table's name.
 */
export const INDEX_TABLES = {
  /** One row a company. Date columns: one for every date parameter of the contract, in snake_case, type TIMESTAMP (UTC). */
  company: {
    internal_id: 'BIGINT',
    country_code: 'VARCHAR',
    /** Without whitespace and hyphens. */
    org_no: 'VARCHAR',
    operational_status: 'BIGINT',
    legal_form: 'BIGINT',
    company_type: 'BIGINT',
    listing_type: 'VARCHAR',
    /** Codes of BasicDetails.IndustryCode.IndustryCodes. */
    industry_codes: 'VARCHAR[]',
    /** Terms of its text, for the ranking. */
    text_terms: 'INTEGER',
    currency: 'VARCHAR',
    at: 'BIGINT',
    bytes: 'INTEGER',
    crc32: 'UINTEGER',
    currency_at: 'INTEGER',
    figures_at: 'INTEGER',
    figures_bytes: 'INTEGER',
    score_bytes: 'INTEGER',
    minified_at: 'BIGINT',
    minified_bytes: 'INTEGER',
    minified_crc32: 'UINTEGER',
  },
  /**
   * One row a company, line item (those of the contract in their own category, and `Employees`) and year: the
   * consolidated figure, else the unconsolidated one. `latest` marks the latest year that has a value.
   */
  figure: {
    line_item: FIGURE_TYPE,
    internal_id: 'BIGINT',
    fiscal_year: 'SMALLINT',
    value: 'DOUBLE',
    currency: 'VARCHAR',
    latest: 'BOOLEAN',
  },
  /** One row a term and company; see `ranking/terms.ts`. */
  posting: { term: 'VARCHAR', internal_id: 'BIGINT', weight: 'FLOAT' },
  /** `vector` is FLOAT[dimensions] of the embedder. */
  embedding: { internal_id: 'BIGINT', vector: 'FLOAT[]' },
  /** One row a relations record. Dates are those of the company with the same id; NULL where there is none. */
  relation: {
    internal_id: 'BIGINT',
    country_code: 'VARCHAR',
    org_no: 'VARCHAR',
    content_updated_at: 'TIMESTAMP',
    relations_updated_at: 'TIMESTAMP',
    /** Whether any entity of the record is protected. */
    is_protected: 'BOOLEAN',
    at: 'BIGINT',
    bytes: 'INTEGER',
    crc32: 'UINTEGER',
  },
  /** One row an entity with a national identification number (without whitespace and hyphens). */
  person: {
    national_id: 'VARCHAR',
    internal_id: 'BIGINT',
    is_protected: 'BOOLEAN',
    is_history: 'BOOLEAN',
  },
} as const

/** SHA-256 of declarations by what they mean: their explanations do not count. */
export const contractHash = (...declarations: readonly unknown[]): string =>
  sha256Of(JSON.stringify(declarations, (key, value) => (key === 'about' ? undefined : value)))

/** Of all that decides what stands in an index. */
export const INDEX_CONTRACT = contractHash(CONTENT, MINIFIED_INFO, LINE_ITEMS, FILTER_CLASSES, INDEX_TABLES)
