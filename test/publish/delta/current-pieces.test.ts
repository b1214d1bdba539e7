/** Pieces that a Delta table of current rows consists of: how large they are, and which of them a night writes again. */

import { expect, test } from 'vitest'
import { parsePiece, piecesOf } from '../../../src/publish/delta/current-changes.ts'

const MEBIBYTE = 1024 ** 2

test('a piece has half a MiB in a small table, and never more than 16 MiB', () => {
  expect(piecesOf(100_000, 100_000)).toBe(1)
  expect(piecesOf(7 * MEBIBYTE, 70 * MEBIBYTE)).toBe(14)
  expect(piecesOf(7 * MEBIBYTE, 1024 * MEBIBYTE)).toBe(4)
  for (const bytes of [1, 14, 16, 100].map((size) => size * MEBIBYTE))
    expect(bytes / piecesOf(bytes, 10 ** 12)).toBeLessThanOrEqual(16 * MEBIBYTE)
})

test('the name of a piece says its file in the lake and its ids', () => {
  expect(parsePiece('run-1/0a1b-00000_10_2500-0123456789abcdef.parquet')).toEqual({
    source: 'run-1/0a1b-00000',
    ids: { first: 10n, last: 2500n },
  })
  expect(parsePiece('run-1/line_items-0123456789abcdef.parquet').ids).toBeUndefined()
})
