/** The rows that the checker made of a record of relations, as texts like those of `expected-rows.ts`. */

import {
  ENTITY_COLUMNS,
  type FieldColumn,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../../src/lake/tables/columns.ts'
import type { BlockRows } from '../../src/rows/block-rows.ts'
import { NO_ENTITY, type RecordRows, type RowCells, type RowLists } from '../../src/rows/record-rows.ts'
import {
  DIRECTIONS,
  ENTITY_LISTS,
  ESCAPED,
  FORM_BITS,
  MASKED,
  ODD,
  OWNERSHIP_KINDS,
  PLACE_BITS,
  RECORD_LISTS,
  REPORTED,
} from '../../src/rows/row-columns.ts'

const words = new Uint32Array(2)
const double = new Float64Array(words.buffer)
const whole = new BigInt64Array(words.buffer)

/** Text of a value that its cell holds or points to. */
const valueText = ({ field }: FieldColumn, low: number, high: number, block: Buffer): string => {
  words[0] = low
  words[1] = high
  switch (field.kind) {
    case 'number':
      return Object.is(double[0], -0) ? '-0' : String(double[0])
    case 'integer':
    case 'date-time':
      return String(whole[0])
    case 'boolean':
      return String(low === 1)
    case 'text':
      return JSON.stringify(block.toString('utf8', low, high))
    default:
      return JSON.stringify(JSON.parse(block.toString('utf8', low, high)))
  }
}

const cellsOf = (columns: readonly FieldColumn[], made: RowCells, row: number, block: Buffer): string => {
  const found = new Map<number, string>()
  const { first, behind } = made.rows.columns
  const cells = made.cells.columns
  for (let cell = first[row] ?? 0; cell < (behind[row] ?? 0); cell++) {
    const column = cells.column[cell] ?? 0
    const [place, form] = [column & PLACE_BITS, column & FORM_BITS]
    const [low, high] = [cells.low[cell] ?? 0, cells.high[cell] ?? 0]
    const declared = columns[place]
    if (declared === undefined) throw new RangeError(`Cannot read a cell of column ${place}: there is none`)
    const value = (): unknown => JSON.parse(block.toString('utf8', low, high))
    if (form === REPORTED) found.set(place, `${found.get(place)} ${value()}`)
    else if (form === ODD) found.set(place, `odd ${value()}`)
    else if (form === MASKED) found.set(place, `masked ${JSON.stringify(value())}`)
    else if (form === ESCAPED) found.set(place, JSON.stringify(value()))
    else found.set(place, valueText(declared, low, high, block))
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([place, text]) => `${columns[place]?.name}=${text}`)
    .join(' ')
}

const emptyOf = (bits: number, lists: readonly string[]): string =>
  lists.filter((_, list) => (bits & (1 << list)) !== 0).join()

const itemRows = (
  { cells, lists, end }: { readonly cells: RowCells; readonly lists: RowLists; readonly end: Uint32Array },
  record: number,
  textOf: (list: number, no: number, row: number) => string,
): string[] => {
  const rows: string[] = []
  const from = record === 0 ? 0 : (end[record - 1] ?? 0)
  const to = end[record] ?? cells.rows.length
  const { base, start, end: ends } = lists.columns
  for (let list = 0; list < lists.length; list++)
    for (let row = Math.max(start[list] ?? 0, from); row < Math.min(ends[list] ?? 0, to); row++)
      rows.push(textOf(list, (base[list] ?? 0) + row - (start[list] ?? 0) + 1, row))
  return rows
}

const entityRows = (relations: RecordRows, record: number, block: Buffer): string[] => {
  const { entities, entityPlaces, recordEnds } = relations
  const { above, direction, depth, emptyLists, idLow, idHigh, hasId } = entityPlaces.columns
  const { entities: entitiesEnd } = recordEnds.columns
  const rows: string[] = []
  for (let row = record === 0 ? 0 : (entitiesEnd[record - 1] ?? 0); row < (entitiesEnd[record] ?? 0); row++) {
    const parent = above[row] ?? NO_ENTITY
    const no = parent === NO_ENTITY ? 0 : relations.numberOf(parent, record)
    words.set([idLow[row] ?? 0, idHigh[row] ?? 0])
    const id = hasId[row] === 1 ? String(whole[0]) : ''
    rows.push(
      `entity ${relations.numberOf(row, record)} above ${no} ${DIRECTIONS[direction[row] === 1 ? 1 : 0]} ${depth[row]} id ${id} ` +
        `${cellsOf(ENTITY_COLUMNS, entities, row, block)} empty ${emptyOf(emptyLists[row] ?? 0, ENTITY_LISTS)}`,
    )
  }
  return rows
}

/** The rows of a record, sorted. */
export const madeRows = ({ objects: relations }: BlockRows, record: number, block: Buffer): string[] => {
  const { records, recordEnds, ownerships, ownershipLists, roles, roleLists } = relations
  const ends = recordEnds.columns
  const empty = emptyOf(ends.emptyLists[record] ?? 0, RECORD_LISTS)
  const noOf = (lists: RowLists, list: number): number =>
    relations.numberOf(lists.columns.entity[list] ?? 0, record)
  return [
    `record ${cellsOf(RELATIONS_COLUMNS, records, record, block)} empty ${empty}`,
    ...entityRows(relations, record, block),
    ...itemRows(
      { cells: ownerships, lists: ownershipLists, end: ends.ownerships },
      record,
      (list, no, row) =>
        `ownership ${noOf(ownershipLists, list)} ${no} ${OWNERSHIP_KINDS[ownershipLists.columns.kind[list] ?? 0]} ` +
        cellsOf(OWNERSHIP_COLUMNS, ownerships, row, block),
    ),
    ...itemRows(
      { cells: roles, lists: roleLists, end: ends.roles },
      record,
      (list, no, row) => `role ${noOf(roleLists, list)} ${no} ${cellsOf(ROLE_COLUMNS, roles, row, block)}`,
    ),
  ].sort()
}
