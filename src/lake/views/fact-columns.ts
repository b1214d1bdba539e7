/** The columns of the views about the lake itself, its manifest and its rates. `manifest/snapshots/read-facts.ts` reads their rows. */

import { literal } from '../duckdb/sql.ts'

/** Columns by kind of fact. Date-times are texts, ISO 8601 in UTC. */
export const FACTS = {
  snapshots: {
    ...{ snapshot: 'INTEGER', parent: 'INTEGER', run: 'VARCHAR', pipeline: 'VARCHAR', tool: 'VARCHAR' },
    time: 'VARCHAR',
  },
  partitions: {
    ...{ partition: 'VARCHAR', run: 'VARCHAR', content: 'VARCHAR', is_merged: 'BOOLEAN' },
    ...{ lines: 'BIGINT', records: 'BIGINT', quarantined: 'BIGINT', filtered: 'BIGINT' },
    ...{ rows: 'BIGINT', files: 'INTEGER', bytes: 'BIGINT' },
    ...{ requested_from: 'VARCHAR', requested_to: 'VARCHAR', least: 'VARCHAR', greatest: 'VARCHAR' },
    ...{ snapshot: 'INTEGER', time: 'VARCHAR', as_of: 'VARCHAR', version: 'BIGINT' },
    past_since: 'VARCHAR',
  },
  sources: {
    ...{ run: 'VARCHAR', content: 'VARCHAR', partition: 'VARCHAR', kind: 'VARCHAR', name: 'VARCHAR' },
    ...{ bytes: 'BIGINT', sha256: 'VARCHAR', block: 'INTEGER', is_last: 'BOOLEAN' },
    ...{ lines: 'BIGINT', records: 'BIGINT', quarantined: 'BIGINT', filtered: 'BIGINT' },
    ...{ service: 'VARCHAR', currency: 'VARCHAR', announced: 'BIGINT', received: 'BIGINT' },
  },
  drift: {
    ...{ run: 'VARCHAR', content: 'VARCHAR', partition: 'VARCHAR', kind: 'VARCHAR', name: 'VARCHAR' },
    records: 'BIGINT',
  },
  pulls: {
    ...{ run: 'VARCHAR', content: 'VARCHAR', service: 'VARCHAR', search: 'VARCHAR', currency: 'VARCHAR' },
    ...{ field: 'VARCHAR', from_day: 'VARCHAR', to_day: 'VARCHAR', as_of: 'VARCHAR' },
    ...{ announced: 'BIGINT', planned: 'BIGINT', received: 'BIGINT', gap_left: 'BIGINT' },
  },
  checks: {
    ...{ run: 'VARCHAR', snapshot: 'INTEGER', time: 'VARCHAR', name: 'VARCHAR', status: 'VARCHAR' },
    ...{ value: 'DOUBLE', limit: 'DOUBLE', expected: 'VARCHAR', keys: 'VARCHAR' },
  },
  rates: { currency: 'VARCHAR', year: 'INTEGER', units_per_usd: 'DOUBLE' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type FactName = keyof typeof FACTS
/** A row; columns that it leaves out are NULL. */
export type Fact<Name extends FactName> = { readonly [Column in keyof (typeof FACTS)[Name]]?: unknown }
export type Facts = { readonly [Name in FactName]: readonly Fact<Name>[] }

/** Reads the facts of one kind, one after the other, when a statement asks for them: there may be very many. */
export type ReadFacts = <Name extends FactName>(name: Name) => AsyncIterable<Fact<Name>>

const isFactName = (name: string): name is FactName => Object.hasOwn(FACTS, name)
export const FACT_NAMES: readonly FactName[] = Object.keys(FACTS).filter(isFactName)

/** Facts of a kind as rows, from a text of JSON, which keeps every digit of a number. */
export const factsFrom = <Name extends FactName>(name: Name, facts: readonly Fact<Name>[]): string =>
  `SELECT unnest(from_json(${literal(JSON.stringify(facts))}, ${literal(JSON.stringify([FACTS[name]]))}), recursive := true)`
