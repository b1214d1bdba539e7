/** Names in the order in which people number them: `firms-9` before `firms-10`. */

const PIECES = /\d+|\D+/g
const isNumber = (piece: string): boolean => /^\d/.test(piece)

const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Numbers of any length, with leading zeros or without. */
const byValue = (a: string, b: string): number => {
  const [x, y] = [a.replace(/^0+(?=\d)/, ''), b.replace(/^0+(?=\d)/, '')]
  return x.length - y.length || byUnits(x, y)
}

/** Compares two names piece by piece: numbers by their values, what stands between them by code units. */
export const byNumberedName = (a: string, b: string): number => {
  const [left, right] = [a.match(PIECES) ?? [], b.match(PIECES) ?? []]
  for (const [at, piece] of left.entries()) {
    const other = right[at]
    if (other === undefined) return 1
    const order = isNumber(piece) && isNumber(other) ? byValue(piece, other) : byUnits(piece, other)
    if (order !== 0) return order
  }
  return left.length - right.length || byUnits(a, b)
}
