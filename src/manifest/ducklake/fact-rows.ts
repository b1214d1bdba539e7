/** Facts of a snapshot about the lake itself, as rows that stand in the catalog: its partitions, their sources, its quarantine, … */

import { join } from 'node:path'
import type { CommittedPartition, FileOfRun } from '../../core/partition.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { withFiles } from '../../lake/files/fetch-tables.ts'
import { QUARANTINE } from '../../lake/tables/tables.ts'
import { readQuarantine } from '../../lake/views/current-versions.ts'
import { sha256Of } from '../../support/hash.ts'
import { isLoaded } from '../form/sources.ts'
import type { Lists } from '../snapshots/parts.ts'
import { checkFact, driftFactsOf, partitionFact, pullFact, sourceFactsOf } from '../snapshots/read-facts.ts'
import { headOf } from '../snapshots/snapshot-root.ts'
import { FACT_TABLES, type InlinedTable, LOADS, QUARANTINED } from './catalog-layout.ts'
import { VERSION_BITS } from './catalog-views.ts'
import type { RowTarget, StatementQueue } from './statement-queue.ts'
import { listDifference, type Step } from './step-entries.ts'

/** A row with the two halves of its id. */
const target = ({ types, rows }: InlinedTable, begin: number): RowTarget => ({
  types: { row_high: 'BIGINT', row_low: 'BIGINT', ...types },
  insert: (from) => `INSERT INTO ${rows} BY NAME
SELECT (row_high << ${VERSION_BITS}) + row_low AS row_id, ${begin} AS begin_snapshot, * EXCLUDE (row_high, row_low) FROM ${from}`,
})

const withIds = (high: number, rows: readonly object[]): readonly object[] =>
  rows.map((row, row_low) => ({ row_high: high, row_low, ...row }))

/** Rows whose ids have the upper halves are shown no more. */
const endRows = async (
  statements: StatementQueue,
  { rows }: InlinedTable,
  high: ReadonlySet<string | number>,
  snapshot: number,
  condition = 'true',
): Promise<void> => {
  if (high.size === 0) return
  await statements.run(
    `UPDATE ${rows} SET end_snapshot = ${snapshot} WHERE end_snapshot IS NULL AND ${condition}
  AND row_id >> ${VERSION_BITS} IN (SELECT unnest(from_json(${literal(JSON.stringify([...high]))}, '["BIGINT"]')))`,
  )
}

/** Halves of an id that an entry keeps: two of the same text would be one. */
const entryId = (text: string): { readonly row_high: number; readonly row_low: number } => {
  const hash = Buffer.from(sha256Of(text), 'hex')
  return { row_high: hash.readUInt32BE(0) >>> 1, row_low: hash.readUInt32BE(4) }
}

/** Takes note of the facts of one step. Files of the quarantine are read. */
export class FactRows {
  readonly #statements: StatementQueue
  readonly #step: Step
  readonly #scratch: string
  readonly #targets: Readonly<
    Record<'loads' | 'snapshots' | 'partitions' | 'sources' | 'drift' | 'pulls' | 'checks', RowTarget>
  >

  constructor(statements: StatementQueue, step: Step, scratch: string) {
    this.#statements = statements
    this.#step = step
    this.#scratch = scratch
    const of = (table: InlinedTable): RowTarget => target(table, step.after.snapshot)
    const { snapshots, partitions, sources, drift, pulls, checks } = FACT_TABLES
    this.#targets = {
      // A version is of the same load in every snapshot.
      loads: target(LOADS, 1),
      ...{ snapshots: of(snapshots), partitions: of(partitions), sources: of(sources) },
      ...{ drift: of(drift), pulls: of(pulls), checks: of(checks) },
    }
  }

  async addSnapshot(): Promise<void> {
    const { after } = this.#step
    await this.#statements.add(this.#targets.snapshots, withIds(after.snapshot, [headOf(after)]))
  }

  async addLoad(entry: CommittedPartition | FileOfRun): Promise<void> {
    const { version, committed, run } = entry
    const as_of = 'asOf' in entry ? entry.asOf : null
    const row = { version, snapshot: committed.snapshot, run, loaded_at: committed.time, as_of }
    await this.#statements.add(this.#targets.loads, withIds(version, [row]))
  }

  /** @param isKnown whether the lake had it before, as rows of its own */
  async addPartition(partition: CommittedPartition, isMerged: boolean, isKnown: boolean): Promise<void> {
    const { version } = partition
    await this.#statements.add(
      this.#targets.partitions,
      withIds(version, [partitionFact(partition, isMerged)]),
    )
    if (isKnown) return
    if (isLoaded(partition)) {
      await this.#statements.add(this.#targets.sources, withIds(version, sourceFactsOf(partition)))
      await this.#statements.add(this.#targets.drift, withIds(version, driftFactsOf(partition)))
    }
    await this.#addQuarantine(partition)
  }

  async #addQuarantine({ files, version }: CommittedPartition): Promise<void> {
    const { lake, after } = this.#step
    const own = files.filter(({ table }) => table === QUARANTINE.name)
    if (own.length === 0) return
    const columns = Object.keys(QUARANTINED.types).map(ident).join(', ')
    await withFiles(lake, own, join(this.#scratch, 'quarantine'), { known: 'all' }, async (placeOf) => {
      const rows = readQuarantine(own.map((file) => ({ path: placeOf(file.path), bytes: file.bytes })))
      await this.#statements.run(`INSERT INTO ${QUARANTINED.rows}
SELECT (${version}::BIGINT << ${VERSION_BITS}) + row_number() OVER () - 1, ${after.snapshot}, NULL, ${columns} FROM (${rows})`)
      await this.#statements.flush()
    })
  }

  /** Entries that have no version: pulls, and results of checks. */
  async addEntries(): Promise<void> {
    await this.#addList('pulls', pullFact)
    await this.#addList('checks', checkFact)
  }

  async #addList<Name extends 'pulls' | 'checks'>(
    name: Name,
    factOf: (entry: Lists[Name]) => object,
  ): Promise<void> {
    const { gone, added } = await listDifference(this.#step, name)
    for (const text of gone) {
      const { row_high, row_low } = entryId(String(text))
      await this.#statements.run(
        `UPDATE ${FACT_TABLES[name].rows} SET end_snapshot = ${this.#step.after.snapshot}
WHERE end_snapshot IS NULL AND row_id = (${row_high}::BIGINT << ${VERSION_BITS}) + ${row_low}`,
      )
    }
    for await (const entry of added())
      await this.#statements.add(this.#targets[name], [
        { ...entryId(JSON.stringify(entry)), ...factOf(entry) },
      ])
  }

  /** @param gone versions that went from a list @param left those of them that the lake has no more in any way */
  async end(
    gone: ReadonlySet<string | number>,
    left: ReadonlySet<string | number>,
    isMerged: boolean,
  ): Promise<void> {
    const { snapshot } = this.#step.after
    await endRows(
      this.#statements,
      FACT_TABLES.partitions,
      gone,
      snapshot,
      isMerged ? 'is_merged' : 'NOT is_merged',
    )
    for (const table of [FACT_TABLES.sources, FACT_TABLES.drift, QUARANTINED])
      await endRows(this.#statements, table, left, snapshot)
  }
}
