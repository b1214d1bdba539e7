/**
 * Checks the lines of a block: which may be loaded, which are quarantined and why. Parts the block where a
 * company occurs twice, so that within what is loaded at once an InternalId is unique.
 */

import { isUtf8 } from 'node:buffer'
import { type Block, type LinePlace, placeOf } from '../core/block.ts'
import type { Drift } from '../core/partition.ts'
import type { RejectCode, RejectedLine } from '../core/reject.ts'
import type { UnknownItems } from '../core/unknown-names.ts'
import { BlockRows } from './block-rows.ts'
import type { RecordChecker } from './check-record.ts'
import { Rejection } from './json-scan.ts'

/** From (inclusive), to (exclusive) in a block's bytes. */
export type Range = readonly [from: number, to: number]

/** Records to load together: no InternalId twice among them. */
export interface CheckedPart {
  readonly rows: BlockRows
  /** Its records' numbers in `rows`, ascending. */
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

const NEWLINE = 0x0a
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** A part without records. */
export const emptyPart = (): CheckedPart => ({ rows: new BlockRows(), members: [] })

/** Where the line of a part's record stands in the block's bytes, with its line end. */
export const lineOf = ({ rows }: CheckedPart, record: number): Range => [
  rows.start[record] ?? 0,
  rows.next[record] ?? 0,
]

export interface CheckBlockOptions {
  /** Lists all unknown line items, for a sink whose rows cannot be asked for them. @default false */
  readonly listAllItems?: boolean
}

/** Checks every line of `block`. Blank lines count for nothing. */
export const checkBlock = (
  block: Block,
  checker: RecordChecker,
  { listAllItems = false }: CheckBlockOptions = {},
): CheckedBlock => {
  checker.listAllItems(listAllItems)
  const rows = new BlockRows()
  checker.rows = rows
  const { bytes } = block
  const parts: { readonly rows: BlockRows; readonly members: number[] }[] = []
  const rejected: RejectedLine[] = []
  const occurrences = new Map<string, number>()
  const wellFormed = isUtf8(bytes)
  let line = block.firstLine
  let lines = 0
  for (let from = 0; from < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, from)
    const next = newline < 0 ? bytes.length : newline + 1
    const [start, end] = trimLine(bytes, from, newline < 0 ? bytes.length : newline)
    if (start < end) {
      lines++
      const verdict = checkLine(checker, bytes, start, end, next, wellFormed)
      if (verdict instanceof Rejection) {
        const place = block.places?.[lines - 1] ?? { line, offset: block.offset + start }
        rejected.push(rejectedLine(block, place, [start, end], verdict))
      } else {
        const occurrence = occurrences.get(verdict.id) ?? 0
        occurrences.set(verdict.id, occurrence + 1)
        parts[occurrence] ??= { rows, members: [] }
        parts[occurrence].members.push(verdict.record)
      }
    }
    from = next
  }
  for (const { line: at, offset, sizeBytes, head } of block.overlong) {
    lines++
    const reason = `Line has ${sizeBytes} bytes, more than the limit`
    rejected.push({ line: at, offset, sizeBytes, code: 'LINE_TOO_LONG', reason, raw: head })
  }
  const unknownItems = checker.takeUnknownItems()
  return { parts, rejected, lines, drift: checker.takeDrift(), unknownItems }
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

/** A line that passed the checks and was refused later. @param range the line with its line end */
export const refusedLine = (
  block: Block,
  [start, next]: Range,
  code: RejectCode,
  reason: string,
): RejectedLine => rejectedLine(block, placeOf(block, start), [start, next - 1], new Rejection(code, reason))

const checkLine = (
  checker: RecordChecker,
  bytes: Buffer,
  start: number,
  end: number,
  next: number,
  wellFormed: boolean,
) => {
  try {
    if (!wellFormed && !isUtf8(bytes.subarray(start, end))) {
      return new Rejection('NOT_UTF8', 'Line holds bytes that are no UTF-8')
    }
    return checker.check(bytes, start, end, next)
  } catch (error) {
    if (error instanceof Rejection) return error
    throw error
  }
}

/** Without a byte order mark in front and white space at both ends. */
const trimLine = (bytes: Buffer, from: number, to: number): readonly [number, number] => {
  let start = from
  let end = to
  if (bytes[start] === BOM[0] && bytes[start + 1] === BOM[1] && bytes[start + 2] === BOM[2])
    start += BOM.length
  while (end > start && isSpace(bytes[end - 1])) end--
  while (start < end && isSpace(bytes[start])) start++
  return [start, end]
}
const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === NEWLINE
