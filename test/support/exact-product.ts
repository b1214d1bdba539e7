/** Products and sums rounded once, worked out in whole numbers of any length. */

const bits = (value: bigint): number => value.toString(2).length

/**
 * The double nearest to a decimal times a power of ten.
 * @param decimal as JSON writes a number, its exponent a few hundred at most
 */
export const exactProduct = (decimal: string, power: number): number => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal)
  if (parts === null) throw new TypeError(`Cannot read "${decimal}": it is no decimal`)
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = BigInt(whole + fraction)
  const tens = Number(exponent) - fraction.length + power
  const above = tens > 0 ? digits * 10n ** BigInt(tens) : digits
  const below = tens < 0 ? 10n ** BigInt(-tens) : 1n
  const size = digits === 0n ? 0 : nearest(above, below)
  return sign === '-' ? -size : size
}

/** The double nearest to a fraction, of two as near the even one. */
const nearest = (above: bigint, below: bigint): number => {
  // Of 53 bits or one more; the least doubles have fewer.
  let exponent = Math.max(bits(above) - bits(below) - 53, -1074)
  const quotient = (): bigint => {
    const top = exponent < 0 ? above << BigInt(-exponent) : above
    const bottom = exponent > 0 ? below << BigInt(exponent) : below
    const whole = top / bottom
    const twice = 2n * (top - whole * bottom)
    return twice > bottom || (twice === bottom && whole % 2n === 1n) ? whole + 1n : whole
  }
  if (quotient() > 2n ** 53n) exponent++
  return Number(quotient()) * 2 ** exponent
}

/** The double nearest to the sum of doubles that are not negative. */
export const exactSum = (values: readonly number[]): number => {
  const bytes = new DataView(new ArrayBuffer(8))
  let sum = 0n
  for (const value of values) {
    bytes.setFloat64(0, value)
    const word = bytes.getBigUint64(0)
    const exponent = word >> 52n
    const mantissa = word & (2n ** 52n - 1n)
    sum += exponent === 0n ? mantissa : (mantissa + 2n ** 52n) << (exponent - 1n)
  }
  return sum === 0n ? 0 : nearest(sum, 2n ** 1074n)
}
