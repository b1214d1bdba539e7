/**
 * Checks the lines of a block: which may be loaded, which are quarantined and why. Parts the block where a
 * company occurs twice, so that within what is loaded at once an InternalId is unique.
 */

import { isUtf8 } from 'node:buffer'
import type { Block, LinePlace, RejectedLine } from '../core/lines.ts'
import type { Drift } from '../core/partition.ts'
import type { UnknownItems } from '../core/unknown-names.ts'
import { BlockRows } from '../rows/block-rows.ts'
import { newSeenSets } from '../rows/seen-sets.ts'
import { isSpace, JSON_BYTES } from '../support/json-bytes.ts'
import type { RecordChecker } from './record/check-record.ts'
import { Rejection } from './scan/json-scan.ts'

const { LINE_FEED } = JSON_BYTES

/** From (inclusive), to (exclusive) in a block's bytes. */
export type Range = readonly [from: number, to: number]

/** Records to load together: no InternalId twice among them. */
export interface CheckedPart {
  readonly rows: BlockRows
  /** Numbers of the part's records in `rows`, ascending. */
  readonly members: readonly number[]
}

export interface CheckedBlock {
  /** First occurrences of each company, then second ones, and so on; mostly there is one part. */
  readonly parts: CheckedPart[]
  readonly rejected: RejectedLine[]
  /** Lines that are not blank: the records of all parts and the rejected. */
  readonly lines: number
  readonly drift: readonly Drift[]
  /** Line items of its records that the contract does not know. */
  readonly unknownItems: UnknownItems
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** A part without records. */
export const emptyPart = (): CheckedPart => ({ rows: new BlockRows(newSeenSets()), members: [] })

/** The place in the block of the line that a part's record came from, with its line end. */
export const lineOf = ({ rows }: CheckedPart, record: number): Range => {
  const { start, next } = rows.records.columns
  return [start[record] ?? 0, next[record] ?? 0]
}

/**
 * Columns get room for blocks of multiples of it. Blocks of one size differ by a line: for a longer one the columns of the one
 * before would grow to twice their room.
 */
const RESERVED_BYTES = 1024 * 1024

/** The check of one block, in slices: whoever shares the thread has its turn between them. */
export class BlockCheck {
  readonly #block: Block
  readonly #checker: RecordChecker
  readonly #rows: BlockRows
  readonly #parts: { readonly rows: BlockRows; readonly members: number[] }[] = []
  readonly #rejected: RejectedLine[] = []
  readonly #occurrences = new Map<string, number>()
  readonly #wellFormed: boolean
  #line: number
  #lines = 0
  #at = 0

  /** @param rows where its records go; what stands there is forgotten */
  constructor(block: Block, checker: RecordChecker, rows: BlockRows) {
    this.#block = block
    this.#checker = checker
    this.#rows = rows
    this.#wellFormed = isUtf8(block.bytes)
    this.#line = block.firstLine
    rows.clear()
    if (checker.hasFigures)
      rows.figures.reserve(Math.ceil(block.bytes.length / RESERVED_BYTES) * RESERVED_BYTES)
  }

  /** Checks lines of about so many bytes. @returns whether there are more */
  next(sizeBytes: number): boolean {
    this.#checker.rows = this.#rows
    const { bytes } = this.#block
    const stop = Math.min(bytes.length, this.#at + sizeBytes)
    while (this.#at < stop) {
      const newline = bytes.indexOf(LINE_FEED, this.#at)
      const next = newline < 0 ? bytes.length : newline + 1
      this.#checkLine(this.#at, newline < 0 ? bytes.length : newline, next)
      this.#line++
      this.#at = next
    }
    return this.#at < bytes.length
  }

  #checkLine(from: number, to: number, next: number): void {
    const { bytes, places, offset } = this.#block
    const [start, end] = trimLine(bytes, from, to)
    if (start === end) return
    this.#lines++
    try {
      if (!this.#wellFormed && !isUtf8(bytes.subarray(start, end)))
        throw new Rejection('NOT_UTF8', 'Line holds bytes that are no UTF-8')
      const { id, record } = this.#checker.check(bytes, start, end, next)
      const occurrence = this.#occurrences.get(id) ?? 0
      this.#occurrences.set(id, occurrence + 1)
      this.#parts[occurrence] ??= { rows: this.#rows, members: [] }
      this.#parts[occurrence].members.push(record)
    } catch (error) {
      if (!(error instanceof Rejection)) throw error
      const place = places?.[this.#lines - 1] ?? { line: this.#line, offset: offset + start }
      this.#rejected.push(rejectedLine(this.#block, place, [start, end], error))
    }
  }

  /** The findings, when there are no more lines. */
  end(): CheckedBlock {
    for (const { head, ...line } of this.#block.overlong) {
      this.#lines++
      const reason = `Line has ${line.sizeBytes} bytes, more than the limit`
      this.#rejected.push({ ...line, code: 'LINE_TOO_LONG', reason, raw: head })
    }
    return {
      parts: this.#parts,
      rejected: this.#rejected,
      lines: this.#lines,
      drift: this.#checker.takeDrift(),
      unknownItems: this.#checker.takeUnknownItems(),
    }
  }
}

/** Checks every line of `block` at once. Blank lines count for nothing. */
export const checkBlock = (
  block: Block,
  checker: RecordChecker,
  rows = new BlockRows(checker.seen),
): CheckedBlock => {
  const check = new BlockCheck(block, checker, rows)
  while (check.next(block.bytes.length));
  return check.end()
}

const rejectedLine = (
  block: Block,
  place: LinePlace,
  [start, end]: Range,
  { code, reason }: Rejection,
): RejectedLine => ({
  ...place,
  sizeBytes: end - start,
  code,
  reason,
  raw: Buffer.from(block.bytes.subarray(start, end)),
})

/** Without a byte order mark in front and white space at both ends. */
export const trimLine = (bytes: Buffer, from: number, to: number): readonly [number, number] => {
  let start = from
  let end = to
  if (bytes[start] === BOM[0] && bytes[start + 1] === BOM[1] && bytes[start + 2] === BOM[2])
    start += BOM.length
  while (end > start && isSpace(bytes[end - 1]!)) end--
  while (start < end && isSpace(bytes[start]!)) start++
  return [start, end]
}
