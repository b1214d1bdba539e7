/** Gives the current records of a lake back as they came, partition by partition in bounded memory. */

import { tmpdir } from 'node:os'
import type { Content } from '../contract/objects.ts'
import type { PartitionEntry, Snapshot } from '../core/partition.ts'
import { currentRows, filesOf, HIDDEN_SCHEMA, makeSuperseded, readTable } from '../lake/current-versions.ts'
import { Engine, type Session } from '../lake/duckdb.ts'
import { ident } from '../lake/sql.ts'
import { mainTables, TABLES, type Table, tablesOf } from '../lake/tables.ts'
import { companyRecords } from '../load/companies.ts'
import { figuresOf } from '../load/financials.ts'
import { relationRecords } from '../load/relations.ts'

export interface GiveBackRequest {
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
}

/** Rows of one partition that are nested at once: their texts have to fit into memory. */
const ROWS_AT_ONCE = 400_000

/** JSON texts of the records, one document each; equal as data to what came in. */
export async function* giveBack(request: GiveBackRequest): AsyncGenerator<string> {
  const { lake, snapshot, content, ids, memoryBytes, threads, signal } = request
  const engine = await Engine.open({
    memoryBytes,
    ...(threads !== undefined && { threads }),
    spillFolder: `${tmpdir()}/firmlake-${process.pid}`,
  })
  try {
    const session = await engine.connect()
    await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
    for (const main of mainTables()) {
      if (content !== undefined && main.content !== content) continue
      await session.run(makeSuperseded(snapshot, lake, main))
      for (const [version, partition] of snapshot.partitions.entries()) {
        if (partition.content !== main.content || partition.counts.records === 0) continue
        for (const chosen of choices(partition, ids)) {
          signal?.throwIfAborted()
          const view = (table: Table): string => ident(`part_${table.name}`)
          for (const table of tablesOf(main.content)) {
            const files = filesOf(snapshot, lake, table.name).filter((file) => file.version === version)
            await session.run(
              `CREATE OR REPLACE TEMP VIEW ${view(table)} AS SELECT * FROM (${currentRows(table, readTable(table, files, 'with-version'))}) WHERE ${chosen(table.owner ?? '')}`,
            )
          }
          await makeDictionary(session, snapshot, lake, partition)
          yield* session.streamTexts(await recordsOf(session, main.content))
        }
      }
    }
  } finally {
    engine.close()
  }
}

/** Conditions that part the records of a partition: by the ids asked for, or by slices that fit into memory. */
const choices = (
  partition: PartitionEntry,
  ids: readonly bigint[] | undefined,
): readonly ((owner: string) => string)[] => {
  if (ids !== undefined) return [(owner) => `${ident(owner)} IN (${ids.join(', ')})`]
  const rows = Math.max(...Object.values(partition.counts.rows))
  const slices = Math.ceil(rows / ROWS_AT_ONCE)
  return Array.from({ length: Math.max(1, slices) }, (_, slice) =>
    slices <= 1 ? () => 'true' : (owner: string) => `hash(${ident(owner)}) % ${slices} = ${slice}`,
  )
}

/** The dictionary of the run that loaded the partition: it says which figures were scaled. */
const makeDictionary = async (
  session: Session,
  snapshot: Snapshot,
  lake: string,
  partition: PartitionEntry,
): Promise<void> => {
  const table = TABLES.find(({ name }) => name === 'line_items')
  if (table === undefined) throw new TypeError('Cannot find the declaration of table "line_items"')
  const own = {
    ...snapshot,
    partitions: [],
    files: snapshot.files.filter(({ run }) => run === partition.run),
  }
  await session.run(
    `CREATE OR REPLACE TEMP VIEW part_line_items AS ${readTable(table, filesOf(own, lake, table.name))}`,
  )
}

/** Prepares the session and gives the query whose first column is the record's text. */
const recordsOf = async (session: Session, content: Content): Promise<string> => {
  if (content === 'companies') {
    const figures = figuresOf('part_financials', 'part_companies', 'part_line_items')
    return `SELECT record FROM (${companyRecords('part_companies', 'part_employees', figures)}) ORDER BY internal_id`
  }
  const [deepest] = await session.rows('SELECT max(depth) AS depth FROM part_relation_entities')
  const { steps, records } = relationRecords(
    {
      relations: 'part_relations',
      relation_entities: 'part_relation_entities',
      ownerships: 'part_ownerships',
      roles: 'part_roles',
    },
    Number(deepest?.depth ?? 0),
  )
  for (const step of steps) await session.run(step)
  return `SELECT record FROM (${records}) ORDER BY internal_id`
}
