/**
 * Records as rows. A company is one; a record of relations is a tree of entities, each with its history, whose entries
 * have a history again. Rows stand in document order. A record's rows are taken back where it is refused.
 */

import { type RowCellColumns, RowCells } from './row-cells.ts'
import { ENTITY_ID, OWNERSHIP_KINDS, type RowList } from './row-columns.ts'
import { type RowListColumns, RowLists } from './row-lists.ts'
import { grown } from './shared-columns.ts'

const FIRST_ROWS = 256
const FIRST_PENDING = 1024
const KINDS = OWNERSHIP_KINDS.length
/** The direction whose entities are numbered first. */
const PARENT = 0
export const NO_ENTITY = -1

/** The columns as they pass between threads: their memory is shared. */
export interface RecordColumns {
  readonly cells: readonly RowCellColumns[]
  readonly lists: readonly RowListColumns[]
  readonly plain: Pick<RecordRows, (typeof PLAIN)[number]>
}
const PLAIN = [
  'above',
  'direction',
  'depth',
  'ids',
  'hasId',
  'emptyLists',
  'recordEmptyLists',
  'numbersBefore',
  'entitiesEnd',
  'ownershipsEnd',
  'rolesEnd',
  'hasOdd',
] as const

export class RecordRows {
  readonly records = new RowCells()
  readonly entities = new RowCells()
  readonly ownerships = new RowCells()
  readonly roles = new RowCells()
  readonly ownershipLists = new RowLists()
  readonly roleLists = new RowLists()
  /** Of each entity the one in whose history it stands. */
  above = new Int32Array(0)
  direction = new Uint8Array(0)
  depth = new Uint16Array(0)
  /** The lower and the upper half of its id, and whether it has one. */
  ids = new Uint32Array(0)
  hasId = new Uint8Array(0)
  /** A bit for each of its lists that came empty. */
  emptyLists = new Uint8Array(0)
  /** The same of each record. */
  recordEmptyLists = new Uint8Array(0)
  /** Of each record, by direction, what to take from an entity's row to have its number: see `numberOf`. */
  numbersBefore = new Int32Array(0)
  /** Of each record the rows behind its last ones. */
  entitiesEnd = new Uint32Array(0)
  ownershipsEnd = new Uint32Array(0)
  rolesEnd = new Uint32Array(0)
  /** Whether there are values that are left to DuckDB. */
  hasOdd = false

  /** Cells of the rows that have begun and not ended. */
  #pending = new Uint32Array(FIRST_PENDING * 3)
  #filled = 0
  /** Where the cells of each open row begin, and its number. */
  readonly #openFrom: number[] = []
  readonly #openRow: number[] = []
  #entity = NO_ENTITY
  #emptyOfRecord = 0
  /** First rows of the record's parents and of its children, and rows of the parents with their histories. */
  readonly #first: [number, number] = [0, 0]
  #parents = 0
  /** Lists of ownerships by kind, of each open entity. */
  readonly #lists: number[] = []
  #list = 0

  get #all() {
    return [
      this.records,
      this.entities,
      this.ownerships,
      this.roles,
      this.ownershipLists,
      this.roleLists,
    ] as const
  }

  clear(): void {
    for (const rows of this.#all) rows.clear()
    this.hasOdd = false
  }

  columns(): RecordColumns {
    const { records, entities, ownerships, roles, ownershipLists, roleLists } = this
    const { above, direction, depth, ids, hasId, emptyLists } = this
    const { recordEmptyLists, numbersBefore, entitiesEnd, ownershipsEnd, rolesEnd, hasOdd } = this
    return {
      cells: [records, entities, ownerships, roles].map((rows) => rows.columns()),
      lists: [ownershipLists.columns(), roleLists.columns()],
      plain: {
        ...{ above, direction, depth, ids, hasId, emptyLists },
        ...{ recordEmptyLists, numbersBefore, entitiesEnd, ownershipsEnd, rolesEnd, hasOdd },
      },
    }
  }

  /** Takes columns of another thread in place of its own. */
  adopt({ cells, lists, plain }: RecordColumns): void {
    for (const [at, rows] of [this.records, this.entities, this.ownerships, this.roles].entries())
      rows.adopt(cells[at]!)
    for (const [at, rows] of [this.ownershipLists, this.roleLists].entries()) rows.adopt(lists[at]!)
    Object.assign(this, plain)
  }

  startRecord(): void {
    for (const rows of this.#all) rows.startRecord()
    this.#filled = 0
    this.#openFrom.length = 0
    this.#openRow.length = 0
    this.#lists.length = 0
    this.#entity = NO_ENTITY
    this.#emptyOfRecord = 0
    this.#first[0] = 0
    this.#first[1] = 0
    this.#parents = 0
  }

  dropRecord(): void {
    for (const rows of this.#all) rows.dropRecord()
  }

  /** Ends the record at hand. */
  endRecord(): void {
    const record = this.records.startRow()
    if (record >= this.entitiesEnd.length) {
      this.entitiesEnd = grown(Uint32Array, this.entitiesEnd, Math.max(record + 1, FIRST_ROWS))
      this.ownershipsEnd = grown(Uint32Array, this.ownershipsEnd, this.entitiesEnd.length)
      this.rolesEnd = grown(Uint32Array, this.rolesEnd, this.entitiesEnd.length)
      this.recordEmptyLists = grown(Uint8Array, this.recordEmptyLists, this.entitiesEnd.length)
      this.numbersBefore = grown(Int32Array, this.numbersBefore, 2 * this.entitiesEnd.length)
    }
    // Parents are numbered first, also where they stand behind the children.
    const [parents, children] = this.#first
    this.numbersBefore[2 * record] = parents - 1
    this.numbersBefore[2 * record + 1] = children - 1 - this.#parents
    this.records.endRow(record, this.#pending, 0, this.#filled)
    this.entitiesEnd[record] = this.entities.rows
    this.ownershipsEnd[record] = this.ownerships.rows
    this.rolesEnd[record] = this.roles.rows
    this.recordEmptyLists[record] = this.#emptyOfRecord
  }

  /** As `cell`, for a value that is left to DuckDB. */
  oddCell(column: number, from: number, to: number): void {
    this.cell(column, from, to)
    this.hasOdd = true
  }

  /** A value of the row that has begun last: the place of its column with its form, and what that says. */
  cell(column: number, first: number, second: number): void {
    const at = this.#filled * 3
    if (at >= this.#pending.length) {
      const larger = new Uint32Array(2 * this.#pending.length)
      larger.set(this.#pending)
      this.#pending = larger
    }
    this.#pending[at] = column
    this.#pending[at + 1] = first
    this.#pending[at + 2] = second
    this.#filled++
  }

  emptyList({ bit }: RowList): void {
    if (this.#entity === NO_ENTITY) this.#emptyOfRecord |= bit
    else this.emptyLists[this.#entity]! |= bit
  }

  startList(list: RowList): void {
    if (list.rows === 'ownerships') {
      this.#list = this.ownershipLists.startList(this.#entity, list.kind, this.ownerships.rows)
      this.#lists[this.#lists.length - KINDS + list.kind] = this.#list
    } else if (list.rows === 'roles')
      this.#list = this.roleLists.startList(this.#entity, list.kind, this.roles.rows)
    else if (list.direction !== undefined) this.#first[list.direction] = this.entities.rows
  }

  endList(list: RowList): void {
    if (list.rows === 'ownerships') this.ownershipLists.end[this.#list] = this.ownerships.rows
    else if (list.rows === 'roles') this.roleLists.end[this.#list] = this.roles.rows
    else if (list.direction === PARENT) this.#parents = this.entities.rows - this.#first[PARENT]
  }

  /** Number of an entity in its record. */
  numberOf(entity: number, record: number): number {
    return entity - this.numbersBefore[2 * record + this.direction[entity]!]!
  }

  startRow(list: RowList): void {
    const row = list.rows === 'entities' ? this.#startEntity(list.direction) : this[list.rows].startRow()
    this.#openFrom.push(this.#filled)
    this.#openRow.push(row)
  }

  endRow(list: RowList): void {
    const from = this.#openFrom.pop() ?? 0
    const row = this.#openRow.pop() ?? 0
    if (list.rows === 'entities') this.#endEntity(row, from)
    this[list.rows].endRow(row, this.#pending, from, this.#filled)
    this.#filled = from
  }

  #startEntity(direction: number | undefined): number {
    const above = this.#entity
    const row = this.entities.startRow()
    if (row >= this.above.length) this.#growEntities(Math.max(row + 1, FIRST_ROWS))
    this.above[row] = above
    this.direction[row] = direction ?? this.direction[above]!
    this.depth[row] = above === NO_ENTITY ? 0 : this.depth[above]! + 1
    this.hasId[row] = 0
    this.emptyLists[row] = 0
    for (let kind = 0; kind < KINDS; kind++) this.#lists.push(NO_ENTITY)
    this.#entity = row
    return row
  }

  /** Numbers its ownerships, and takes its id out of its cells. */
  #endEntity(row: number, from: number): void {
    const { ownershipLists } = this
    const first = this.#lists.length - KINDS
    let base = 0
    for (let kind = 0; kind < KINDS; kind++) {
      const list = this.#lists[first + kind]!
      if (list === NO_ENTITY) continue
      ownershipLists.base[list] = base
      base += ownershipLists.end[list]! - ownershipLists.start[list]!
    }
    this.#lists.length = first
    this.#entity = this.above[row]!
    const pending = this.#pending
    for (let at = from; at < this.#filled; at++) {
      if (pending[at * 3] !== ENTITY_ID) continue
      this.ids[2 * row] = pending[at * 3 + 1]!
      this.ids[2 * row + 1] = pending[at * 3 + 2]!
      this.hasId[row] = 1
      pending.copyWithin(at * 3, (at + 1) * 3, this.#filled * 3)
      this.#filled--
      return
    }
  }

  #growEntities(rows: number): void {
    this.above = grown(Int32Array, this.above, rows)
    this.direction = grown(Uint8Array, this.direction, this.above.length)
    this.depth = grown(Uint16Array, this.depth, this.above.length)
    this.ids = grown(Uint32Array, this.ids, 2 * this.above.length)
    this.hasId = grown(Uint8Array, this.hasId, this.above.length)
    this.emptyLists = grown(Uint8Array, this.emptyLists, this.above.length)
  }
}
