/**
 * Records as rows. A company is one; a record of relations is a tree of entities, each with its history, whose entries
 * have a history again. Rows stand in document order. A record's rows are dropped where it is refused.
 */

import { GrowingColumns } from './growing-columns.ts'
import { ENTITY_ID, OWNERSHIP_KINDS, type RowList } from './row-columns.ts'

const MIN_CELLS = 4096
const FIRST_PENDING = 1024
const KINDS = OWNERSHIP_KINDS.length
/** The direction whose entities are numbered first. */
const PARENT = 0
export const NO_ENTITY = -1

/**
 * Rows that objects of a record become: of each row the columns that have a value, and that value in 64 bits, or where it
 * stands in the block's bytes. Holds no texts; columns without a value take no room.
 */
export class RowCells {
  /** Per row, its first cell and the one behind its last. Others may begin and end before a row ends. */
  readonly rows = new GrowingColumns({ first: Uint32Array, behind: Uint32Array })
  /** Per cell, the place of its column in the table with its form, and two numbers: see `row-columns.ts`. */
  readonly cells = new GrowingColumns({ column: Uint16Array, low: Uint32Array, high: Uint32Array }, MIN_CELLS)

  /** Ends a row with its cells: three numbers each, from the `start`th cell of `pending` up to the `end`th. */
  endRow(row: number, pending: Uint32Array, start: number, end: number): void {
    const { cells, rows } = this
    let cell = cells.length
    rows.columns.first[row] = cell
    cells.length += end - start
    cells.reserve(cells.length)
    rows.columns.behind[row] = cells.length
    const { column, low, high } = cells.columns
    for (let at = start * 3; at < end * 3; at += 3, cell++) {
      column[cell] = pending[at]!
      low[cell] = pending[at + 1]!
      high[cell] = pending[at + 2]!
    }
  }
}

/**
 * Lists of an entity whose items are rows, from `start` to `end`. The first row's number follows `base`: the rows of the
 * entity's lists of lower kinds.
 */
const rowLists = () =>
  new GrowingColumns({
    entity: Uint32Array,
    kind: Uint8Array,
    base: Uint32Array,
    start: Uint32Array,
    end: Uint32Array,
  })

export type RowLists = ReturnType<typeof rowLists>

export class RecordRows {
  readonly records = new RowCells()
  readonly entities = new RowCells()
  readonly ownerships = new RowCells()
  readonly roles = new RowCells()
  readonly ownershipLists = rowLists()
  readonly roleLists = rowLists()
  /**
   * Per entity: `above` the entity in whose history it stands, `direction` and `depth` in the tree, `idLow` and `idHigh` the halves of
   * its id, `hasId` whether it has one, `emptyLists` a bit for each of its lists that came empty.
   */
  readonly entityPlaces = new GrowingColumns({
    above: Int32Array,
    direction: Uint8Array,
    depth: Uint16Array,
    idLow: Uint32Array,
    idHigh: Uint32Array,
    hasId: Uint8Array,
    emptyLists: Uint8Array,
  })
  /**
   * Per record, the rows behind its last ones, a bit for each of its lists that came empty, and by direction what to take
   * from an entity's row to have its number: see `numberOf`.
   */
  readonly recordEnds = new GrowingColumns({
    entities: Uint32Array,
    ownerships: Uint32Array,
    roles: Uint32Array,
    emptyLists: Uint8Array,
    beforeParents: Int32Array,
    beforeChildren: Int32Array,
  })
  readonly tables: readonly GrowingColumns[] = [
    ...[this.records, this.entities, this.ownerships, this.roles].flatMap(({ rows, cells }) => [rows, cells]),
    ...[this.ownershipLists, this.roleLists, this.entityPlaces, this.recordEnds],
  ]
  /** Whether there are values that are left to DuckDB. */
  hasOdd = false

  /** Cells of the rows that have begun and not ended. */
  #pending = new Uint32Array(FIRST_PENDING * 3)
  #filled = 0
  /** Per open row, where its cells begin, and its number. */
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

  startRecord(): void {
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

  /** Ends the record at hand. */
  endRecord(): void {
    const record = this.records.rows.startRow()
    this.records.endRow(record, this.#pending, 0, this.#filled)
    this.recordEnds.startRow()
    const { columns } = this.recordEnds
    columns.entities[record] = this.entities.rows.length
    columns.ownerships[record] = this.ownerships.rows.length
    columns.roles[record] = this.roles.rows.length
    columns.emptyLists[record] = this.#emptyOfRecord
    // Parents are numbered first, also where they stand behind the children.
    const [parents, children] = this.#first
    columns.beforeParents[record] = parents - 1
    columns.beforeChildren[record] = children - 1 - this.#parents
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
    else this.entityPlaces.columns.emptyLists[this.#entity]! |= bit
  }

  startList(list: RowList): void {
    if (list.rows === 'ownerships') {
      this.#list = this.#startRowList(this.ownershipLists, list.kind, this.ownerships)
      this.#lists[this.#lists.length - KINDS + list.kind] = this.#list
    } else if (list.rows === 'roles') this.#list = this.#startRowList(this.roleLists, list.kind, this.roles)
    else if (list.direction !== undefined) this.#first[list.direction] = this.entities.rows.length
  }

  #startRowList(lists: RowLists, kind: number, { rows: { length } }: RowCells): number {
    const list = lists.startRow()
    const { columns } = lists
    columns.entity[list] = this.#entity
    columns.kind[list] = kind
    columns.base[list] = 0
    columns.start[list] = length
    columns.end[list] = length
    return list
  }

  endList(list: RowList): void {
    if (list.rows === 'ownerships') this.ownershipLists.columns.end[this.#list] = this.ownerships.rows.length
    else if (list.rows === 'roles') this.roleLists.columns.end[this.#list] = this.roles.rows.length
    else if (list.direction === PARENT) this.#parents = this.entities.rows.length - this.#first[PARENT]
  }

  /** Number of an entity in its record. */
  numberOf(entity: number, record: number): number {
    const { beforeParents, beforeChildren } = this.recordEnds.columns
    const isParent = this.entityPlaces.columns.direction[entity] === PARENT
    return entity - (isParent ? beforeParents : beforeChildren)[record]!
  }

  startRow(list: RowList): void {
    const row = list.rows === 'entities' ? this.#startEntity(list.direction) : this[list.rows].rows.startRow()
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
    const row = this.entities.rows.startRow()
    this.entityPlaces.startRow()
    const { columns } = this.entityPlaces
    columns.above[row] = above
    columns.direction[row] = direction ?? columns.direction[above]!
    columns.depth[row] = above === NO_ENTITY ? 0 : columns.depth[above]! + 1
    columns.hasId[row] = 0
    columns.emptyLists[row] = 0
    for (let kind = 0; kind < KINDS; kind++) this.#lists.push(NO_ENTITY)
    this.#entity = row
    return row
  }

  /** Numbers its ownerships, and takes its id out of its cells. */
  #endEntity(row: number, from: number): void {
    const { base: bases, start, end } = this.ownershipLists.columns
    const { above, idLow, idHigh, hasId } = this.entityPlaces.columns
    const first = this.#lists.length - KINDS
    let base = 0
    for (let kind = 0; kind < KINDS; kind++) {
      const list = this.#lists[first + kind]!
      if (list === NO_ENTITY) continue
      bases[list] = base
      base += end[list]! - start[list]!
    }
    this.#lists.length = first
    this.#entity = above[row]!
    const pending = this.#pending
    for (let at = from; at < this.#filled; at++) {
      if (pending[at * 3] !== ENTITY_ID) continue
      idLow[row] = pending[at * 3 + 1]!
      idHigh[row] = pending[at * 3 + 2]!
      hasId[row] = 1
      pending.copyWithin(at * 3, (at + 1) * 3, this.#filled * 3)
      this.#filled--
      return
    }
  }
}
