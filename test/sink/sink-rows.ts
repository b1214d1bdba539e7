/** Rows for sinks: one column of each kind that the lake's tables have. */

import { ident, literal } from '../../src/lake/duckdb/sql.ts'

export interface SinkRow {
  readonly id: number
  readonly big: number
  readonly text: string | null
  readonly value: number | null
  readonly flag: boolean | null
  readonly year: number
  readonly at: string | null
  readonly strings: readonly (string | null)[] | null
  readonly nested: { readonly name: string | null; readonly count: number } | null
}

const COLUMNS: Readonly<Record<keyof SinkRow, string>> = {
  id: 'BIGINT',
  big: 'BIGINT',
  text: 'VARCHAR',
  value: 'DOUBLE',
  flag: 'BOOLEAN',
  year: 'SMALLINT',
  at: 'TIMESTAMPTZ',
  strings: 'VARCHAR[]',
  nested: 'STRUCT(name VARCHAR, count BIGINT)',
}

/** The columns as `read_ndjson` takes them. */
export const columnList = (): string =>
  `{${Object.entries(COLUMNS)
    .map(([name, type]) => `${ident(name)}: ${literal(type)}`)
    .join(', ')}}`

const VALUES = [0, -0.1, 1 / 3, 1.7976931348623157e308, 5e-324, 123456789012.34567, null] as const

export const sinkRow = (id: number): SinkRow => ({
  id,
  big: Number.MAX_SAFE_INTEGER - id,
  text: id % 3 === 0 ? null : `row ${id}`,
  value: VALUES[id % VALUES.length] ?? null,
  flag: id % 3 === 0 ? null : id % 2 === 0,
  year: 1900 + (id % 200),
  at: id % 4 === 0 ? null : `20${String(10 + (id % 80))}-02-03T04:05:06.123456Z`,
  strings: id % 5 === 0 ? null : id % 5 === 1 ? [] : ['a', null, `b ${id}`],
  nested: id % 4 === 1 ? null : { name: id % 4 === 2 ? null : `n ${id}`, count: id },
})

/** Texts that break careless writers. */
export const HOSTILE_STRINGS: readonly string[] = [
  '',
  ' ',
  'NULL',
  'null',
  '__HIVE_DEFAULT_PARTITION__',
  '__proto__',
  `'; DROP TABLE companies; --`,
  '"double", \'single\', `back`',
  'a,b;c\td|e',
  'two\nlines\r\nand more\r',
  '\\n is no line end \\',
  '{"json": [1, 2]}',
  '\u0000',
  'before\u0000after',
  '\u0001\u001f\u007f\u0080\u009f',
  '\u2028 and \u2029',
  '\ufeffBOM',
  'עברית \u202eright to left\u202c العربية',
  'é as two: e\u0301',
  '😀 𝒳 \u{10ffff}',
  '日本語の会社 Ελληνικά Кириллица',
  '%s %d $1 {{y}} ../../etc/passwd',
  'x'.repeat(100_000),
]
