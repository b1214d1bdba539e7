/** Decimals as a service may write them: short and long, near the ends of the range, halfway between two doubles. */

import fc from 'fast-check'

const digits = (min: number, most: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: most }).map((all) => all.join(''))
const whole = (most: number): fc.Arbitrary<string> =>
  digits(1, most).map((text) => text.replace(/^0+(?=\d)/, ''))
const plain = (wholeDigits: number, decimals: number): fc.Arbitrary<string> =>
  fc.tuple(whole(wholeDigits), digits(1, decimals)).map((parts) => parts.join('.'))
const double = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 })
const size = fc.double({ noNaN: true, min: 1e-7, max: 1e12 })

/** The decimal halfway between a double and the next one, moved down by a power of ten: as a product it is a tie. */
const halfway = fc
  .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.constantFrom(0, 3, 6, 9))
  .map(([value, power]) => {
    const text = String(2n * value + 1n).padStart(power + 1, '0')
    return power === 0 ? text : `${text.slice(0, -power)}.${text.slice(-power)}`
  })

export const decimals: fc.Arbitrary<string> = fc
  .tuple(
    fc.boolean(),
    fc.oneof(
      whole(6),
      whole(25),
      plain(9, 3),
      plain(6, 9),
      plain(20, 20),
      halfway,
      size.map(String),
      size.map((value) => value.toPrecision(17)),
      double.map(String),
      double.map((value) => value.toExponential(16)),
      fc.tuple(plain(1, 17), fc.integer({ min: -345, max: 290 })).map((parts) => parts.join('e')),
      fc
        .tuple(plain(1, 2), fc.integer({ min: -20, max: 22 }), fc.constantFrom('E', 'e', 'E+', 'e-'))
        .map(([text, exponent, sign]) => `${text}${sign}${Math.abs(exponent)}`),
      fc.constantFrom('0', '0.0', '0e5', '1e-400', '4.94065645841247e-324', '2.4703282292062328e-324'),
      fc.integer({ min: 270, max: 310 }).map((zeros) => `0.${'0'.repeat(zeros)}123456789012345678`),
    ),
  )
  .map(([isNegative, text]) => (isNegative ? `-${text}` : text))
  .map((text) => text.replace(/^(-?)0+(?=\d)/, '$1'))
