/** Ids that a caller gives: 64 bits, of which a number holds only those up to 2^53. */

/** @throws {RangeError} for a number that was rounded before it came here, or is none of whole */
export const exactId = (id: bigint | number): bigint => {
  if (typeof id === 'bigint' || Number.isSafeInteger(id)) return BigInt(id)
  throw new RangeError(`Cannot use the id ${id}: expected a whole number, beyond 2^53 a bigint`)
}
