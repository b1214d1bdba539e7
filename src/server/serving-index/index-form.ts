/**
 * The form of a serving index: the current records of one snapshot laid out for answering searches. It consists of segments, each of
 * consecutive partitions: three files of documents (JSON Lines in blocks of Zstandard, read by place), and a DuckDB file with what
 * filters, sorting and text search need. Segments never change; indexes of several snapshots share their files.
 */

import { LINE_ITEMS } from '../../contract/line-items.ts'
import { CONTENT, type Content, MINIFIED_INFO } from '../../contract/objects.ts'
import { FILTER_CLASSES } from '../../contract/requests.ts'
import type { Row } from '../../lake/duckdb/engine.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { sha256Of } from '../../support/hash.ts'
import { MARK_COLUMNS } from '../persons/find-marks.ts'

/**
 * Raised when an index is made in another way; what follows from the contract and from the tables below stands in
 * `INDEX_CONTRACT`. An index of another version or contract is made again.
 */
export const INDEX_VERSION = 5

/** The files of documents. A line of `minified` is `{"MinifiedInfo":{…}}`. */
export type DocumentKind = Content | 'minified'
export const DOCUMENT_KINDS = [
  'companies',
  'relations',
  'minified',
] as const satisfies readonly DocumentKind[]
/**
 * Bytes of documents at which a block ends. A page's documents may stand far apart, and each block of one is decompressed whole:
 * blocks four times as large take 7 % less room, and a sorted page of whole companies four times as long.
 */
export const BLOCK_BYTES: Readonly<Record<DocumentKind, number>> = {
  companies: 32 * 1024,
  relations: 16 * 1024,
  minified: 4 * 1024,
}
/** Files of a segment. What `zstd -dc` makes of documents is JSON Lines. */
export const documentFile = (kind: DocumentKind, segment: string): string => `${kind}-${segment}.jsonl.zst`
export const searchFile = (segment: string): string => `search-${segment}.duckdb`
export const isSearchFile = (name: string): boolean => name.endsWith('.duckdb')
/** A folder without it is no index. */
export const DESCRIPTION_FILE = 'index.json'

export interface IndexDescription {
  readonly version: number
  /** `INDEX_CONTRACT` of the maker. */
  readonly contract: string
  readonly snapshot: number
  /** `Snapshot.time` of the snapshot: `CreatedAt` of batch files made from it. */
  readonly snapshotTime: string
  /** The latest instant as of which any of its partitions is; empty where it has none. */
  readonly snapshotAsOf: string
  /** SHA-256 of the snapshot's file. */
  readonly snapshotSha256: string
  readonly records: Readonly<Record<Content, number>>
  /** In the order of their partitions: a record counts in the last one that has it. */
  readonly segments: readonly SegmentDescription[]
  /** Name and dimensions of what made the embeddings; `none` and 0 where nothing did. */
  readonly embedder: { readonly name: string; readonly dimensions: number }
}

export interface SegmentDescription {
  /** SHA-256 of all that decides what stands in it, shortened: part of its files' names. */
  readonly name: string
  /** How many of the snapshot's partitions it covers, behind those of the segments before it. */
  readonly partitions: number
  /** The segment's records, those included that later segments supersede. */
  readonly records: Readonly<Record<Content, number>>
  /** Companies that are not listed any more, in a table `unlisted` (`internal_id`); absent where its partitions name none. */
  readonly unlisted?: number | undefined
}

/**
 * Place of a document: its segment, the block in the file of its kind, its bytes in that block's content, and the CRC-32 of
 * these: one that is damaged is never sent.
 */
export interface DocumentPlace {
  /** The segment's place among the index's segments. */
  readonly segment: number
  readonly blockAt: number
  readonly blockBytes: number
  readonly at: number
  readonly bytes: number
  readonly crc32: number
}

/** The columns of a place, by what stands before their names. */
export type PlacePrefix = '' | 'minified_'
const PLACE_NAMES = ['block_at', 'block_bytes', 'at', 'bytes', 'crc32'] as const
export const PLACE_TYPES: Readonly<Record<(typeof PLACE_NAMES)[number], string>> = {
  block_at: 'BIGINT',
  block_bytes: 'INTEGER',
  at: 'INTEGER',
  bytes: 'INTEGER',
  crc32: 'UINTEGER',
}

/** Select items of a place in a row of `company` or `relation`. */
export const placeColumns = (row: string, prefix: PlacePrefix = ''): string =>
  [...(prefix === '' ? ['segment'] : []), ...PLACE_NAMES.map((name) => `${prefix}${name}`)]
    .map((name) => `${row}."${name}"`)
    .join(', ')

export const placeIn = (row: Row, prefix: PlacePrefix = ''): DocumentPlace => ({
  segment: Number(row.segment),
  blockAt: Number(row[`${prefix}block_at`]),
  blockBytes: Number(row[`${prefix}block_bytes`]),
  at: Number(row[`${prefix}at`]),
  bytes: Number(row[`${prefix}bytes`]),
  crc32: Number(row[`${prefix}crc32`]),
})

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
  /** Whether the record lacks a field that is always present in answers. */
  readonly isSparse: boolean
}

/** A figure parameter that is no line item. */
export const EMPLOYEES = 'Employees'
/** Names of figures, in the order of the table. */
export const FIGURE_NAMES: readonly string[] = [
  ...LINE_ITEMS.map(({ lineItem }) => lineItem),
  EMPLOYEES,
].sort()
export const FIGURE_TYPE = `ENUM (${FIGURE_NAMES.map(literal).join(', ')})`
/**
 * A name as `figure.line_item` is to be compared with it. With a plain text, DuckDB would compare the texts of all
 * rows instead of looking at the zone maps.
 */
export const figureNamed = (name: string): string => `${literal(name)}::${FIGURE_TYPE}`

/**
 * Tables of a segment's DuckDB file; an open index has views of the same names in the schema `serving`, with the rows that no later
 * segment supersedes and, of `company` and `relation`, their `segment`. All are sorted so that zone maps help: `company`, `relation`,
 * `embedding` by internal_id, `figure` by line_item, within it as companies were read, `posting` by term and company, `person`
 * by national_id, the protected by person_id. Dates are instants in UTC. `at` is a word of DuckDB's grammar: it needs quotes or its table's name.
 */
export const INDEX_TABLES = {
  /** A row for each company. Date columns: one for every date parameter of the contract, in snake_case, type TIMESTAMP (UTC). */
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
    is_sparse: 'BOOLEAN',
    /** Whether it has fields of the contract alone. */
    is_plain: 'BOOLEAN',
    ...PLACE_TYPES,
    currency_at: 'INTEGER',
    figures_at: 'INTEGER',
    figures_bytes: 'INTEGER',
    score_bytes: 'INTEGER',
    minified_block_at: 'BIGINT',
    minified_block_bytes: 'INTEGER',
    minified_at: 'INTEGER',
    minified_bytes: 'INTEGER',
    minified_crc32: 'UINTEGER',
  },
  /**
   * A row for each company and line item (those of the contract in their own category, and `Employees`): the figures of its years,
   * the consolidated one of a year, else the unconsolidated one. Years that lie far apart are in rows of their own.
   */
  figure: {
    line_item: FIGURE_TYPE,
    internal_id: 'BIGINT',
    /** The row's last year, and its figure. */
    fiscal_year: 'SMALLINT',
    value: 'DOUBLE',
    /** Figures of the years before it, backwards; NULL for a year without one. */
    earlier: 'DOUBLE[]',
    /** Whether there is no later year. */
    latest: 'BOOLEAN',
    currency: 'VARCHAR',
  },
  /**
   * A row for each company that has net sales in a preferred statement: those of the latest such year, and what compares with them, all of
   * the consolidation of that statement.
   */
  latest_sales: {
    internal_id: 'BIGINT',
    fiscal_year: 'SMALLINT',
    consolidation: 'VARCHAR',
    currency: 'VARCHAR',
    months: 'SMALLINT',
    net_sales: 'DOUBLE',
    /** Net sales of at most twelve years up to it, the oldest first; NULL for a year without. */
    sales_by_year: 'DOUBLE[]',
    /** Against the year before; NULL where both do not compare, with the reason. */
    growth: 'DOUBLE',
    growth_reason: 'VARCHAR',
    ebit_margin: 'DOUBLE',
  },
  /** A row for each term and company, which is the row of `company` so far behind the first; see `ranking/terms.ts`. */
  posting: { term: 'VARCHAR', company_row: 'INTEGER', weight: 'FLOAT' },
  /** `vector` is FLOAT[dimensions] of the embedder; without one there are no rows. */
  embedding: { internal_id: 'BIGINT', vector: 'FLOAT[]' },
  /** A row for each relations record. */
  relation: {
    internal_id: 'BIGINT',
    country_code: 'VARCHAR',
    org_no: 'VARCHAR',
    /** Whether it has fields of the contract alone, and an id for each company and person. */
    is_plain: 'BOOLEAN',
    ...PLACE_TYPES,
  },
  /** A row for each entity with a national identification number (without whitespace and hyphens), or without an id. */
  person: {
    national_id: 'VARCHAR',
    internal_id: 'BIGINT',
    /** The entity's person id; NULL where it has none. */
    person_id: 'BIGINT',
    is_protected: 'BOOLEAN',
    is_history: 'BOOLEAN',
    /** Name and date of birth as a key, where it has neither an id nor a national id. */
    birth: 'VARCHAR',
  },
  /** Keys of persons whom relations protect. */
  protected: MARK_COLUMNS,
  /** The same of persons whom records of companies protect, in fields that the contract does not know. */
  protected_beside: MARK_COLUMNS,
} as const

/** Beside them, in a segment that has such: `internal_id` of companies that are not listed any more. */
export const UNLISTED_TABLE = 'unlisted'

/** SHA-256 of declarations by what they mean: their explanations do not count. */
export const contractHash = (...declarations: readonly unknown[]): string =>
  sha256Of(JSON.stringify(declarations, (key, value) => (key === 'about' ? undefined : value)))

/** Hash of everything that decides the content of an index. */
export const INDEX_CONTRACT = contractHash(CONTENT, MINIFIED_INFO, LINE_ITEMS, FILTER_CLASSES, INDEX_TABLES)
