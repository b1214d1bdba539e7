/**
 * Relations records of a slice as JSON texts, from `relations`, `relation_entities`, `ownerships` and `roles`: the inverse of
 * `record-tables.ts`. What one leaves out the other cannot restore. The objects of the rows are held as bytes, and nested when
 * their record is asked for.
 */

import { RELATION } from '../contract/objects.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { sliceView } from '../lake/slices/slices.ts'
import {
  type FieldColumn,
  fieldColumns,
  OWNERSHIP_COLUMNS,
  POINTER_LIKE,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../lake/tables/columns.ts'
import type { TableName } from '../lake/tables/tables.ts'
import { DIRECTIONS, ENTITY_LISTS, OWNERSHIP_KINDS, RECORD_LISTS } from '../rows/row-columns.ts'
import { ByteWriter } from '../support/buffers.ts'
import { JSON_BYTES, type JsonPart, membersAt } from '../support/json-bytes.ts'
import {
  idsOf,
  nameText,
  type Strings,
  type TextMaker,
  verbatimStrings,
  wholeNumbersOf,
} from './column-texts.ts'
import { setMembers } from './merge-patch.ts'
import { ColumnStrings, MembersWriter, membersOf, selectedColumns } from './object-texts.ts'

const { COMMA, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET } = JSON_BYTES

/** A relations record as JSON text, which stands until the next one is asked for. */
export interface RelationText {
  readonly id: bigint
  readonly text: Uint8Array
}

/** A text among the bytes of the slice. */
interface Piece {
  readonly from: number
  readonly to: number
}

/** The columns of a chunk that do not become members of objects. */
interface KeyColumns {
  readonly ids: readonly bigint[]
  readonly numbers: readonly Float64Array[]
  readonly strings: readonly Strings[]
}

/** Takes a row of a chunk, whose object ends the bytes. */
type TakeRow = (keys: KeyColumns, row: number, object: Piece) => void

/** Reads the rows of a table in the order of their ids and numbers. */
class RowReader {
  readonly #sql: string
  readonly #numbers: number
  readonly #strings: readonly TextMaker[]
  readonly #columns: ColumnStrings
  readonly #objects: MembersWriter

  /**
   * @param id column of the record that a row belongs to
   * @param numbers SQL of whole numbers below 2^53, never NULL
   * @param texts SQL of JSON texts
   * @param columns that become the object of a row
   */
  constructor(
    table: TableName,
    {
      id,
      numbers,
      strings,
    }: { readonly id: string; readonly numbers: readonly string[]; readonly strings: readonly string[] },
    columns: readonly FieldColumn[],
  ) {
    const keys = [id, ...numbers.map((sql) => `(${sql})::BIGINT`)]
    this.#sql = `SELECT ${[...keys, ...strings, selectedColumns(columns)].join(', ')} FROM ${sliceView(table)}
ORDER BY ${keys.join(', ')}`
    this.#numbers = numbers.length
    this.#strings = strings.map(verbatimStrings)
    this.#columns = new ColumnStrings(columns)
    this.#objects = new MembersWriter(membersOf(columns, 0))
  }

  /** @param bytes to which the objects are appended, row by row */
  async read(session: Session, bytes: ByteWriter, take: TakeRow): Promise<void> {
    const { chunks } = await session.rawChunks(this.#sql)
    for await (const { rows, columns } of chunks) {
      const [id, ...others] = columns
      const numbers = others.slice(0, this.#numbers)
      const strings = others.slice(numbers.length, numbers.length + this.#strings.length)
      const objects = this.#columns.make(others.slice(numbers.length + strings.length), rows)
      const keys = {
        ids: id === undefined ? [] : idsOf(id, rows),
        numbers: numbers.map((column) => wholeNumbersOf(column, rows)),
        strings: strings.flatMap((column, at) => this.#strings[at]?.make(column, rows) ?? []),
      }
      const made = this.#objects.write(objects, [], rows)
      for (let row = 0; row < rows; row++) {
        const from = bytes.length
        made.appendTo(bytes, row)
        take(keys, row, { from, to: bytes.length })
      }
    }
  }
}

/** A parent or child, or an entry of a history. */
interface Entity {
  readonly company: bigint
  readonly number: number
  readonly object: Piece
  /** Patches of the object, set in it when its lists are. */
  readonly patches: readonly Buffer[]
  /** Names of the lists that came empty. */
  readonly empty: readonly string[]
  /** The entity's ownerships and roles, in the order of its lists. */
  readonly items: Item[]
  readonly history: Entity[]
}

/** An ownership or a role. */
interface Item {
  /** The place of its list in `ITEM_LISTS`. */
  readonly list: number
  readonly object: Piece
}

/** The object around a list: its lists that came empty, and its JSON pointer. */
interface Above {
  readonly empty: readonly string[]
  readonly pointer: string
}

interface RelationsRecord {
  readonly id: bigint
  readonly object: Piece
  readonly empty: readonly string[]
  /** Members beyond the contract: its own, and those of rows by their pointers. */
  readonly extra: Buffer | undefined
}

const NONE = -1
const NO_MEMBERS = Buffer.from('{}')
const HISTORY = 'History'
const ITEM_LISTS = ENTITY_LISTS.filter((name) => name !== HISTORY)
const ROLES = ITEM_LISTS.indexOf('KeyPersonRoles')
const EMPTY_LISTS = 'to_json(empty_lists)::VARCHAR'
const NAMES = new Map([...RECORD_LISTS, ...ENTITY_LISTS].map((name) => [name, nameText(name)]))

/** The place of a text among others, as SQL. */
const placeIn = (strings: readonly string[], column: string): string =>
  `CASE ${column} ${strings.map((text, at) => `WHEN ${literal(text)} THEN ${at}`).join(' ')} END`

/** The related entity's own id is a column under another name: it has a table to itself. */
const ENTITY_OBJECT = fieldColumns(RELATION).map((column) =>
  column.name === 'internal_id' ? { ...column, name: 'entity_id' } : column,
)

/** Keys of `extra` that do not point to a row are members of the record. */
const isPointer = (name: string): boolean => name.startsWith(POINTER_LIKE)

const namesIn = (text: Buffer | undefined): readonly string[] =>
  text === undefined ? [] : JSON.parse(text.toString())

/** Makes the records of one slice after the other in the same memory. */
export class RelationsReader {
  readonly #relations = new RowReader(
    'relations',
    { id: 'internal_id', numbers: [], strings: [EMPTY_LISTS, 'extra'] },
    RELATIONS_COLUMNS,
  )
  readonly #entities = new RowReader(
    'relation_entities',
    {
      id: 'company_id',
      numbers: ['entity_no', `coalesce(parent_no, ${NONE})`, placeIn(DIRECTIONS, 'direction')],
      strings: [EMPTY_LISTS, 'as_reported', 'masked'],
    },
    ENTITY_OBJECT,
  )
  readonly #ownerships = new RowReader(
    'ownerships',
    {
      id: 'company_id',
      numbers: ['entity_no', placeIn(OWNERSHIP_KINDS, 'kind'), 'no'],
      strings: ['as_reported'],
    },
    OWNERSHIP_COLUMNS,
  )
  readonly #roles = new RowReader(
    'roles',
    { id: 'company_id', numbers: ['entity_no', `${ROLES}`, 'no'], strings: ['as_reported'] },
    ROLE_COLUMNS,
  )
  readonly #bytes = new ByteWriter()
  readonly #writer = new ByteWriter()
  #records: RelationsRecord[] = []
  /** The parents and the children of each company. */
  #ofCompany = new Map<bigint, readonly Entity[][]>()
  /** Keyed by their JSON pointers, members beyond the contract of rows of the record that is written. */
  #beyond: ReadonlyMap<string, readonly JsonPart[]> = new Map()

  /** Reads the records of the slice whose views stand in the session. @returns them in the order of their ids */
  async read(session: Session): Promise<Iterable<RelationText>> {
    this.#bytes.clear()
    await this.#readRecords(session)
    const entities = await this.#readEntities(session)
    await this.#readItems(session, this.#ownerships, entities)
    await this.#readItems(session, this.#roles, entities)
    return this.#written()
  }

  async #readRecords(session: Session): Promise<void> {
    this.#records = []
    await this.#relations.read(session, this.#bytes, ({ ids, strings: [empty, extra] }, row, object) =>
      this.#records.push({
        ...{ id: ids[row] ?? 0n, object },
        empty: namesIn(empty?.copyOf(row)),
        extra: extra?.copyOf(row),
      }),
    )
  }

  /** Nests entities: an entry of a history stands behind the entity that it belongs to. */
  async #readEntities(session: Session): Promise<readonly Entity[]> {
    const entities: Entity[] = []
    const inRecord = new Map<number, Entity>()
    let lists: readonly Entity[][] = []
    this.#ofCompany = new Map()
    await this.#entities.read(session, this.#bytes, ({ ids, numbers, strings }, row, object) => {
      const company = ids[row] ?? 0n
      const [number = NONE, parent = NONE, direction = 0] = numbers.map((column) => column[row])
      const [empty, ...patches] = strings.map((text) => text.copyOf(row))
      if (entities.at(-1)?.company !== company) {
        lists = RECORD_LISTS.map(() => [])
        this.#ofCompany.set(company, lists)
        inRecord.clear()
      }
      const entity = {
        ...{ company, number, object, empty: namesIn(empty), items: [], history: [] },
        patches: patches.filter((patch) => patch !== undefined),
      }
      entities.push(entity)
      inRecord.set(number, entity)
      const list = parent === NONE ? lists[direction] : inRecord.get(parent)?.history
      list?.push(entity)
    })
    return entities
  }

  /** Puts rows into the lists of their entities, which stand in the same order. */
  async #readItems(session: Session, reader: RowReader, entities: readonly Entity[]): Promise<void> {
    const bytes = this.#bytes
    let at = 0
    await reader.read(
      session,
      bytes,
      ({ ids, numbers: [entityNos, lists], strings: [reported] }, row, object) => {
        while (entities[at]?.number !== entityNos?.[row] || entities[at]?.company !== ids[row])
          if (++at >= entities.length) throw new TypeError('Cannot nest relations: a row has no entity')
        const patch = reported?.copyOf(row)
        if (patch !== undefined) setMembers(bytes, object.from, membersAt(patch, 0))
        entities[at]?.items.push({ list: lists?.[row] ?? 0, object: { from: object.from, to: bytes.length } })
      },
    )
  }

  *#written(): Generator<RelationText> {
    const writer = this.#writer
    for (const { id, object, empty, extra } of this.#records) {
      const members = extra === undefined ? [] : membersAt(extra, 0)
      const own = members.filter(({ name }) => !isPointer(name))
      const beyond = members.filter(({ name }) => isPointer(name))
      this.#beyond = new Map(beyond.map(({ name, json, valueFrom }) => [name, membersAt(json, valueFrom)]))
      writer.clear()
      this.#append(object)
      const lists = this.#ofCompany.get(id) ?? []
      for (const [at, name] of RECORD_LISTS.entries())
        this.#appendEntities(0, name, lists[at] ?? [], { empty, pointer: '' })
      if (own.length > 0) setMembers(writer, 0, own)
      this.#setBeyond(0, POINTER_LIKE)
      yield { id, text: writer.written() }
    }
  }

  #append({ from, to }: Piece): void {
    this.#writer.append(this.#bytes.bytes, from, to)
  }

  #appendEntity({ object, empty, items, patches, history }: Entity, pointer: string): void {
    const start = this.#writer.length
    this.#append(object)
    for (let list = 0, from = 0; list < ITEM_LISTS.length; list++) {
      let to = from
      while (items[to]?.list === list) to++
      if (to > from || empty.length > 0)
        this.#appendItems(start, ITEM_LISTS[list] ?? '', items.slice(from, to), { empty, pointer })
      from = to
    }
    for (const patch of patches) setMembers(this.#writer, start, membersAt(patch, 0))
    this.#setBeyond(start, pointer)
    this.#appendEntities(start, HISTORY, history, { empty, pointer })
    this.#endItem(start)
  }

  #appendEntities(start: number, name: string, entities: readonly Entity[], { empty, pointer }: Above): void {
    if (entities.length === 0 && !empty.includes(name)) return
    this.#openList(start, name)
    for (const [nth, entity] of entities.entries()) {
      if (nth > 0) this.#writer.byte(COMMA)
      this.#appendEntity(entity, this.#pointer(pointer, name, nth))
    }
    this.#closeList()
  }

  #appendItems(start: number, name: string, items: readonly Item[], { empty, pointer }: Above): void {
    if (items.length === 0 && !empty.includes(name)) return
    this.#openList(start, name)
    for (const [nth, { object }] of items.entries()) {
      if (nth > 0) this.#writer.byte(COMMA)
      const from = this.#writer.length
      this.#append(object)
      this.#setBeyond(from, this.#pointer(pointer, name, nth))
      this.#endItem(from)
    }
    this.#closeList()
  }

  /** Begins a list as the last member of the object that begins at `start`: over the brace that ends it. */
  #openList(start: number, name: string): void {
    const writer = this.#writer
    const hasMembers = writer.length > start + NO_MEMBERS.length
    writer.length = hasMembers ? writer.length - 1 : start
    writer.byte(hasMembers ? COMMA : OPEN_BRACE)
    writer.append(NAMES.get(name) ?? nameText(name))
    writer.byte(OPEN_BRACKET)
  }

  #closeList(): void {
    this.#writer.byte(CLOSE_BRACKET)
    this.#writer.byte(CLOSE_BRACE)
  }

  /** An object in a list stays where it has no members. */
  #endItem(start: number): void {
    if (this.#writer.length === start) this.#writer.append(NO_MEMBERS)
  }

  /** The pointer of a row, as far as one of the record is needed. */
  #pointer(above: string, list: string, nth: number): string {
    return this.#beyond.size === 0 ? '' : `${above}/${list}/${nth}`
  }

  /** Sets the members beyond the contract in the object that begins at `start`. */
  #setBeyond(start: number, pointer: string): void {
    const members = this.#beyond.get(pointer)
    if (members !== undefined) setMembers(this.#writer, start, members)
  }
}
