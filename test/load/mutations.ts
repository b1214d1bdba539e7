/** Lines that somebody broke: bytes changed, left out, put in, or pieces of JSON put in their place. */

import fc from 'fast-check'

const PIECES = [
  ...'{}[]",:-+.0159eEntf \t\r\\/',
  'null',
  'true',
  'NaN',
  'Infinity',
  '1e400',
  '1E+2',
  '""',
  '{}',
  '[]',
  '"__proto__":1,',
  '"InternalId":2,',
  '"2020":1,',
  '\\u0000',
  '\\ud800',
  '\\u0049',
  'Protected Identity',
  '\u0000',
  '\ufeff',
  'é',
].map((piece) => Buffer.from(piece))
const BAD_BYTES = [0x80, 0xc0, 0xed, 0xff].map((byte) => Buffer.from([byte]))

type Mutation = readonly [at: number, remove: number, piece: Buffer]

const mutation: fc.Arbitrary<Mutation> = fc.tuple(
  fc.nat(),
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, 1) }, { weight: 1, arbitrary: fc.nat(6) }),
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(Buffer.alloc(0)) },
    { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
    { weight: 1, arbitrary: fc.constantFrom(...BAD_BYTES) },
  ),
)

const mutated = (line: Buffer, [place, remove, piece]: Mutation): Buffer => {
  const at = place % (line.length + 1)
  return Buffer.concat([line.subarray(0, at), piece, line.subarray(at + remove)])
}

/** Each of some lines with up to two mutations; none holds a line end. */
export const mutatedLines = (valid: fc.Arbitrary<string[]>): fc.Arbitrary<Buffer[]> =>
  valid.chain((lines) =>
    fc
      .tuple(...lines.map(() => fc.array(mutation, { maxLength: 2 })))
      .map((all) => all.map((mutations, at) => mutations.reduce(mutated, Buffer.from(lines[at] ?? '')))),
  )
