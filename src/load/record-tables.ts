/**
 * The records of a part as tables that DuckDB selects from: `companies`, or `relations`, `relation_entities`, `ownerships` and
 * `roles`. Their inverse: `restore/profile-texts.ts` and `restore/relations.ts`.
 */

import type { ColumnTable } from '../lake/duckdb/column-tables.ts'
import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../lake/tables/columns.ts'
import { NO_ENTITY, type RecordRows, type RowLists } from '../rows/record-rows.ts'
import { DIRECTIONS, ENTITY_LISTS, OWNERSHIP_KINDS, RECORD_LISTS } from '../rows/row-columns.ts'
import {
  BooleanColumn,
  type ChunkColumn,
  ListColumn,
  memberName,
  SmallColumn,
  StringsColumn,
  WordsColumn,
} from './chunk-columns.ts'
import type { RowFields } from './row-fields.ts'
import { extraColumn, type OtherColumns, oneEach, type RowPart, rowTable } from './row-table.ts'

/** Rows of `companies`: one a record. All date-times of a company are members of its MetaData. */
export const companiesTable = (companies: RowPart): ColumnTable => {
  const { rows } = companies.part
  return rowTable(companies, {
    table: 'companies',
    fields: COMPANY_COLUMNS,
    cells: rows.objects.records,
    end: oneEach(rows),
    dateTimes: 'MetaData',
    others: () => extraColumn(rows),
  })
}

/** Rows of `relations`: one a record. */
export const relationsTable = (relations: RowPart): ColumnTable => {
  const { rows } = relations.part
  const { emptyLists } = rows.objects.recordEnds.columns
  return rowTable(relations, {
    table: 'relations',
    fields: RELATIONS_COLUMNS,
    cells: rows.objects.records,
    end: oneEach(rows),
    others: () => {
      const empty = new EmptyLists(RECORD_LISTS)
      const extra = extraColumn(rows)
      return {
        columns: [empty.column, ...extra.columns],
        set: (at, row, record) => {
          empty.set(at, emptyLists[row]!)
          extra.set(at, row, record)
        },
      }
    },
  })
}

/**
 * Rows of `relation_entities`, histories at every depth. Personal data that came masked is NULL in its column and the
 * entity is protected, unless it says no and only a part of an address is masked; `masked` keeps what stood there.
 */
export const relationEntitiesTable = (relations: RowPart): ColumnTable => {
  const { rows } = relations.part
  const { above, emptyLists, depth } = rows.objects.entityPlaces.columns
  return rowTable(relations, {
    table: 'relation_entities',
    fields: ENTITY_COLUMNS,
    cells: rows.objects.entities,
    end: rows.objects.recordEnds.columns.entities,
    others: (fields) => {
      const entity = new EntityColumns(relations)
      const parentNo = new WordsColumn('parent_no')
      const depths = new SmallColumn('depth')
      const empty = new EmptyLists(ENTITY_LISTS)
      const isProtected = fields.columns.find(({ name }) => name === 'is_protected')
      return {
        columns: [...entity.columns, parentNo, depths, empty.column],
        set: (at, row, record) => {
          entity.set(at, row, record)
          if (above[row] !== NO_ENTITY) parentNo.set(at, rows.objects.numberOf(above[row]!, record), 0)
          depths.set(at, depth[row]!)
          empty.set(at, emptyLists[row]!)
          if (fields.masked.isSet(at) && isProtected instanceof BooleanColumn)
            protect(fields, isProtected, at)
        },
      }
    },
  })
}

const IS_PROTECTED = memberName('IsProtected')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

/** Keeps what IsProtected came as, where masked data alone says that the entity is protected. */
const protect = ({ masked }: RowFields, isProtected: BooleanColumn, at: number): void => {
  if (isProtected.isTrue(at) || (isProtected.isSet(at) && !masked.isWhole(at))) return
  masked.add(at, ENTITY_COLUMNS.length, IS_PROTECTED, isProtected.isSet(at) ? FALSE : NULL)
  isProtected.set(at, true)
}

/** Rows of `ownerships`, one a record of any of the four kinds; `no` counts within the entity. */
export const ownershipsTable = (relations: RowPart): ColumnTable => {
  const { ownerships, ownershipLists, recordEnds } = relations.part.rows.objects
  return rowTable(relations, {
    table: 'ownerships',
    fields: OWNERSHIP_COLUMNS,
    cells: ownerships,
    end: recordEnds.columns.ownerships,
    others: () => {
      const item = new ItemColumns(relations, ownershipLists)
      const kind = new StringsColumn('kind')
      return {
        columns: [...item.columns, kind],
        set: (at, row, record) => {
          const list = item.set(at, row, record)
          kind.set(at, KIND_STRINGS[ownershipLists.columns.kind[list]!]!)
        },
      }
    },
  })
}

/** Rows of `roles`; `no` counts within the entity. */
export const rolesTable = (relations: RowPart): ColumnTable => {
  const { roles, roleLists, recordEnds } = relations.part.rows.objects
  return rowTable(relations, {
    table: 'roles',
    fields: ROLE_COLUMNS,
    cells: roles,
    end: recordEnds.columns.roles,
    others: () => new ItemColumns(relations, roleLists),
  })
}

const stringsOf = (values: readonly string[]): readonly Buffer[] => values.map((value) => Buffer.from(value))
const DIRECTION_STRINGS = stringsOf(DIRECTIONS)
const KIND_STRINGS = stringsOf(OWNERSHIP_KINDS)

/** The columns that every row of an entity, of its ownerships and of its roles has. */
class EntityColumns {
  readonly #companyId = new WordsColumn('company_id')
  readonly #entityNo = new WordsColumn('entity_no')
  readonly #direction = new StringsColumn('direction')
  readonly #entityId = new WordsColumn('entity_id')
  readonly #isHistory = new BooleanColumn('is_history')
  readonly columns = [
    this.#companyId,
    this.#entityNo,
    this.#direction,
    this.#entityId,
    this.#isHistory,
  ] as const
  readonly #companies: Uint32Array
  readonly #rows: RecordRows

  constructor({ part: { rows } }: RowPart) {
    const { id } = rows.records.columns
    this.#companies = new Uint32Array(id.buffer, id.byteOffset, 2 * id.length)
    this.#rows = rows.objects
  }

  set(at: number, entity: number, record: number): void {
    const { direction, depth, idLow, idHigh, hasId } = this.#rows.entityPlaces.columns
    this.#companyId.set(at, this.#companies[2 * record]!, this.#companies[2 * record + 1]!)
    this.#entityNo.set(at, this.#rows.numberOf(entity, record), 0)
    this.#direction.set(at, DIRECTION_STRINGS[direction[entity]!]!)
    this.#isHistory.set(at, depth[entity]! > 0)
    if (hasId[entity] === 1) this.#entityId.set(at, idLow[entity]!, idHigh[entity]!)
  }
}

/** The columns that every row of an entity's lists has. Rows come in the order of the block. */
class ItemColumns implements OtherColumns {
  readonly #entity: EntityColumns
  readonly #no = new WordsColumn('no')
  readonly columns: readonly ChunkColumn[]
  readonly #lists: RowLists
  #list = 0

  constructor(relations: RowPart, lists: RowLists) {
    this.#entity = new EntityColumns(relations)
    this.columns = [...this.#entity.columns, this.#no]
    this.#lists = lists
  }

  /** @returns the list that the row stands in */
  set(at: number, row: number, record: number): number {
    const { entity, base, start, end } = this.#lists.columns
    while (end[this.#list]! <= row) this.#list++
    const list = this.#list
    this.#entity.set(at, entity[list]!, record)
    this.#no.set(at, base[list]! + row - start[list]! + 1, 0)
    return list
  }
}

/** Names of the lists that came empty: an empty list stays, but has no rows to show it. NULL where none is. */
class EmptyLists {
  readonly column = new ListColumn('empty_lists')
  readonly #names: readonly Buffer[]

  constructor(names: readonly string[]) {
    this.#names = stringsOf(names)
  }

  /** @param bits one for each list, set where it is empty */
  set(at: number, bits: number): void {
    if (bits === 0) return
    this.column.startList(at)
    for (const [list, name] of this.#names.entries()) {
      if ((bits & (1 << list)) === 0) continue
      this.column.startItem()
      this.column.set(0, name)
    }
  }
}
