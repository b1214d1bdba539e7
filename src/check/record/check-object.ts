/** Walks a record by the contract: strict JSON, every value of the declared type, no key twice, nothing too deep. */

import { COMPANY, type Content, PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { POINTER_LIKE } from '../../lake/tables/columns.ts'
import type { BlockRows } from '../../rows/block-rows.ts'
import { CellTaker } from '../../rows/take-cell.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { tooManyUnknown } from '../drift/drift-log.ts'
import type { FiguresChecker } from '../figures/check-figures.ts'
import { duplicateKey, type JsonScan, tooDeep } from '../scan/json-scan.ts'
import { KEY_SLACK, readKey } from '../scan/read-key.ts'
import { checkNumber, type RecordPath, wrongShape } from '../scan/record-path.ts'
import type { CompiledField, CompiledObject } from './compiled-contract.ts'
import type { CheckContext, RecordFacts } from './record-facts.ts'

const { QUOTE } = JSON_BYTES
/** First byte of null. */
const NULL = 0x6e

export class ObjectChecker {
  readonly #context: CheckContext
  readonly #scan: JsonScan
  readonly #path: RecordPath
  readonly #maxDepth: number
  readonly #facts: RecordFacts
  readonly #figures: FiguresChecker
  /** The rows that the record is added to. */
  #rows: BlockRows
  readonly #cells: CellTaker
  /** Parts of the path down to the row that the cursor stands in; 0 in the record's own. */
  #row = 0
  #unknown: UnknownMember[] = []

  constructor(context: CheckContext, facts: RecordFacts, figures: FiguresChecker, rows: BlockRows) {
    this.#context = context
    this.#scan = context.scan
    this.#path = context.path
    this.#maxDepth = context.maxDepth
    this.#facts = facts
    this.#figures = figures
    this.#rows = rows
    this.#cells = new CellTaker(context.stampsUntil)
  }

  startRecord(rows: BlockRows): void {
    this.#rows = rows
    this.#row = 0
    this.#cells.stamp = 0
    if (this.#unknown.length > 0) this.#unknown = []
  }

  /** The latest stamp in the record, in milliseconds since 1970; 0: none. */
  get stamp(): number {
    return this.#cells.stamp
  }

  /** The record's members beyond the contract, as the `extra` column holds them. */
  get extra(): string | undefined {
    return this.#unknown.length > 0 ? extraOf(this.#unknown) : undefined
  }

  /** Checks the object at the cursor, the `depth`th level of the record. @throws {Rejection} */
  check(object: CompiledObject, depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { fields } = object
    if (!scan.open()) return
    let seen = 0 // one bit a field: `compile` refuses objects of more than 32
    let names: Set<string> | undefined
    let before = -1
    do {
      const index = this.#key(object, before)
      if (index < 0) {
        const name = scan.keyText()
        names ??= new Set()
        if (names.has(name))
          throw duplicateKey(this.#path.parts.length > 0 ? this.#path.where() : 'The record')
        if (names.size >= this.#context.maxUnknown) throw tooManyUnknown(this.#context.maxUnknown)
        names.add(name)
        this.#unknownMember(name, depth)
        continue
      }
      const field = fields[index]!
      if ((seen & (1 << index)) !== 0) throw duplicateKey(`Object with "${this.#path.where(field.name)}"`)
      seen |= 1 << index
      before = index
      if (field.rowColumn < 0) this.#value(field, depth)
      else this.#cell(field, depth)
    } while (scan.moreMembers())
  }

  /** Steps over the next key; mostly it is the one that followed `before` the last time. @returns its place, or -1 */
  #key({ keys, order }: CompiledObject, before: number): number {
    const scan = this.#scan
    const { buffer, at } = scan
    if (buffer[at] === QUOTE && at < buffer.length - KEY_SLACK) {
      const likely = order.guess(scan.view, at + 1, before)
      if (likely >= 0) {
        scan.at = at + 1 + order.lengthOf(likely)
        return likely
      }
    }
    const index = readKey(scan, keys)
    if (index >= 0) order.learn(before, index)
    return index
  }

  /** A value that is a column of its object's row. */
  #cell(known: CompiledField, depth: number): void {
    const scan = this.#scan
    const { field, rowColumn } = known
    const first = scan.peek()
    const start = scan.at
    if (first === QUOTE && field.kind === 'text' && known.isPlainText) {
      const isEscaped = scan.skipText()
      this.#cells.takeText(this.#rows.objects, field, rowColumn, scan.buffer, start, scan.at, isEscaped)
      return
    }
    this.#value(known, depth)
    if (first !== NULL) this.#cells.take(this.#rows.objects, field, rowColumn, scan.buffer, start, scan.at)
  }

  #value(known: CompiledField, depth: number): void {
    const scan = this.#scan
    const token = scan.token()
    if (token === 'null') {
      scan.skipWord()
      return
    }
    switch (known.field.kind) {
      case 'text':
        if (token !== 'text') throw wrongShape(this.#path.where(known.name), 'text', token)
        this.#facts.text(known)
        return
      case 'date-time':
        if (token !== 'text') throw wrongShape(this.#path.where(known.name), 'text', token)
        scan.skipText()
        return
      case 'integer':
        this.#facts.integer(known)
        return
      case 'number':
        checkNumber(this.#scan, this.#path, known.name)
        return
      case 'boolean':
        if (token !== 'boolean') throw wrongShape(this.#path.where(known.name), 'true or false', token)
        scan.skipWord()
        return
      case 'object':
        if (token !== 'object') throw wrongShape(this.#path.where(known.name), 'an object', token)
        this.#part(known, depth)
        return
      case 'series':
        if (token !== 'object') throw wrongShape(this.#path.where(known.name), 'an object', token)
        this.#path.push(known.name)
        this.#figures.headcounts(known.field, depth + 1, this.#rows)
        this.#path.pop()
        return
      case 'financials':
        if (token !== 'object') throw wrongShape(this.#path.where(known.name), 'an object', token)
        this.#path.push(known.name)
        this.#figures.statement(known.field, depth + 1, this.#rows)
        this.#path.pop()
        return
      default:
        this.#list(known, depth + 1)
    }
  }

  #part(known: CompiledField, depth: number): void {
    const start = this.#scan.at
    this.#path.push(known.name)
    this.check(known.of!, depth + 1)
    this.#path.pop()
    // A full profile has no MinifiedInfo, so no column holds it; where it comes all the same it is kept whole.
    if (known.field === COMPANY.fields.MinifiedInfo) this.#keepUnknown(known.name, start)
  }

  #list(known: CompiledField, depth: number): void {
    const scan = this.#scan
    const { field } = known
    const token = scan.token()
    const masked = 'masked' in field && field.masked === true
    if (masked && token === 'text') {
      this.#mask(known.name, 'a list')
      return
    }
    if (token !== 'list') throw wrongShape(this.#path.where(known.name), 'a list', token)
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const start = scan.at
    const { rows } = known
    const { objects } = this.#rows
    if (!scan.open()) {
      if (rows !== undefined) objects.emptyList(rows)
      return
    }
    if (rows !== undefined) objects.startList(rows)
    const unknownBefore = this.#unknown.length
    this.#path.push(known.name)
    let index = 0
    do {
      const item = scan.token()
      if (field.kind === 'strings') {
        if (item === 'null') scan.skipWord()
        else if (item === 'text') scan.skipText()
        else throw wrongShape(this.#path.where(index), 'text', item)
      } else if (masked && item === 'text') {
        this.#mask(index, 'an object')
      } else {
        if (item !== 'object') throw wrongShape(this.#path.where(index), 'an object', item)
        this.#path.push(index)
        const row = this.#row
        if (rows !== undefined) {
          this.#row = this.#path.parts.length
          objects.startRow(rows)
        }
        this.check(known.of!, depth + 1)
        if (rows !== undefined) objects.endRow(rows)
        this.#row = row
        this.#path.pop()
      }
      index++
    } while (scan.moreItems())
    this.#path.pop()
    if (rows !== undefined) objects.endList(rows)
    // A list that stays a column cannot be merged item by item: keep it whole where an item has more fields.
    if (rows === undefined && this.#unknown.length > unknownBefore) {
      this.#unknown.length = unknownBefore
      this.#keepUnknown(known.name, start)
    }
  }

  /** The text that stands for personal data in place of what is `expected`. */
  #mask(name: string | number, expected: string): void {
    const scan = this.#scan
    const start = scan.at + 1
    scan.skipText()
    if (scan.textOf(start, scan.at - 1) !== PROTECTED_IDENTITY) {
      throw wrongShape(this.#path.where(name), expected, 'text')
    }
  }

  #unknownMember(name: string, depth: number): void {
    const scan = this.#scan
    const isNull = scan.token() === 'null'
    const start = scan.at
    scan.skipValue(depth, this.#maxDepth)
    if (isNull) return
    this.#keepUnknown(name, start)
    this.#context.drift.saw('field', this.#path.where(name).replace(/\[\d+\]/g, '[]'))
  }

  #keepUnknown(name: string, start: number): void {
    const parts = this.#path.parts.map(String)
    this.#unknown.push({
      row:
        this.#row === 0
          ? ownRow(this.#context.content, parts[0] ?? name)
          : `/${parts.slice(0, this.#row).join('/')}`,
      path: [...parts.slice(this.#row), name],
      raw: this.#scan.buffer.toString('utf8', start, this.#scan.at),
    })
  }
}

/** Members of a record that the contract does not know. */
interface UnknownMember {
  /** JSON pointer of the row object they stand in; '' is the record itself. */
  readonly row: string
  /** Way from the row object to the member, its own name last. */
  readonly path: readonly string[]
  readonly raw: string
}

/** Row of a record's own members. Of relations those that look like a pointer to a row have one to themselves. */
const ownRow = (content: Content, name: string): string =>
  content === 'relations' && name.startsWith('/') ? POINTER_LIKE : ''

/** The `extra` column: unknown members where they stood; those of rows below a JSON pointer. */
const extraOf = (unknown: readonly UnknownMember[]): string => {
  const rows = new Map<string, Branch>()
  for (const { row, path, raw } of unknown) {
    let branch = rows.get(row) ?? new Map()
    rows.set(row, branch)
    for (const name of path.slice(0, -1)) {
      const next: Branch | string = branch.get(name) ?? new Map()
      if (typeof next === 'string') break
      branch.set(name, next)
      branch = next
    }
    branch.set(path.at(-1) ?? '', raw)
  }
  const record = rows.get('') ?? new Map()
  rows.delete('')
  for (const [row, branch] of rows) record.set(row, branch)
  return branchText(record)
}
type Branch = Map<string, Branch | string>
const branchText = (branch: Branch): string =>
  `{${[...branch].map(([name, value]) => `${JSON.stringify(name)}:${typeof value === 'string' ? value : branchText(value)}`).join(',')}}`
