import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachNullRun, Validity } from '../../src/sink/arrow/validity.ts'

const bitsOf = (rows: readonly boolean[]): Uint8Array => {
  const bits = new Uint8Array(Math.ceil(rows.length / 8))
  for (const [row, there] of rows.entries())
    if (there) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7))
  return bits
}

/** Rows of a piece, those of them that are taken, and whether it comes without bits where all are there. */
const runs = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 40 })), { maxLength: 6 })
const piece = fc.record({ runs, skip: fc.nat(20) }).map(({ runs, skip }) => {
  const rows = runs.flatMap(([there, count]) => Array.from({ length: count }, () => there))
  return { rows, from: Math.min(skip, rows.length) }
})

test('Validity keeps which rows have a value, from any row to any row', () => {
  const validity = new Validity('in-turn')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const taken = pieces.map(({ rows, from }) => rows.slice(from))
      for (const { rows, from } of pieces) {
        const bits = rows.every((there) => there) ? undefined : bitsOf(rows)
        validity.append(bits, from, rows.length - from)
      }
      const wanted = taken.flat()
      const nulls = wanted.filter((there) => !there).length
      const { length, nullCount, nullBitmap } = validity.take()
      expect([length, nullCount]).toEqual([wanted.length, nulls])
      expect(nullBitmap && Array.from(nullBitmap)).toEqual(
        nulls === 0 ? undefined : Array.from(bitsOf(wanted)),
      )
    }),
  )
})

test('eachNullRun gives each run of NULLs once and whole', () => {
  fc.assert(
    fc.property(piece, ({ rows, from }) => {
      const found = rows.slice(from).map(() => true)
      let end = -1
      eachNullRun(bitsOf(rows), from, rows.length - from, (at, count) => {
        expect(at).toBeGreaterThan(end)
        end = at + count
        found.fill(false, at, end)
      })
      expect(found).toEqual(rows.slice(from))
    }),
  )
})
