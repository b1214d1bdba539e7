/** Numbers as texts, in the language of the reader: grouped, with a true minus. Pure. */

/** How numbers are written. */
export interface Numbers {
  /** As it is, `12,345.678`. */
  readonly exact: (value: number | bigint) => string
  /** Without digits behind the point, `12,345`. */
  readonly whole: (value: number | bigint) => string
  /** With so many digits behind the point, `1,418.3`. */
  readonly fixed: (value: number, digits: number) => string
  /** With its sign, `+12` or `−2`; 0 has none. */
  readonly signed: (value: number, digits?: number) => string
  /** A share in percent, without its sign: `0.697` as `69.7 %`. */
  readonly percent: (share: number, digits?: number) => string
}

/** A number and its unit stand on one line. */
export const NBSP = '\u00a0'

const minus = (text: string): string => text.replaceAll('-', '−')

/** @param language as of BCP 47, such as `en`, `sv` or `de-CH` */
export const numbersIn = (language: string): Numbers => {
  const formats = new Map<number, Intl.NumberFormat>()
  const format = (value: number | bigint, max: number, min = max): string => {
    const key = 100 * max + min
    const known =
      formats.get(key) ??
      new Intl.NumberFormat(language, { minimumFractionDigits: min, maximumFractionDigits: max })
    formats.set(key, known)
    return minus(known.format(value))
  }
  const fixed = (value: number, digits: number): string => format(value, digits)
  // A value that is shown as 0 has no sign.
  const signed = (value: number, digits = 0): string => {
    const text = format(Math.abs(value), digits)
    if (text === format(0, digits)) return text
    return `${value < 0 ? '−' : '+'}${text}`
  }
  return {
    exact: (value) => format(value, 20, 0),
    whole: (value) => format(value, 0),
    fixed,
    signed,
    // A limit of 0.05 % is not one of 0.1 %.
    percent: (share, digits = Math.abs(share) < 0.01 ? 3 : 1) => `${format(100 * share, digits, 0)}${NBSP}%`,
  }
}

/** With digits behind the point where there are few before it. */
export const scaled = (value: number, factor: number, numbers: Numbers): string => {
  const number = value / factor
  return numbers.fixed(number, Number.isInteger(number) ? 0 : Math.abs(number) < 10 ? 2 : 1)
}

/** `EUR m`, as it stands beside a number. */
export const unitOf = (currency: string, sign: string): string => [currency, sign].filter(Boolean).join(NBSP)

const SCALES = [
  [1e9, 'bn'],
  [1e6, 'm'],
  [1e3, 'k'],
] as const

/** The factor and sign for values that stand together, so that the largest has one to four digits before the point. */
export const scaleOf = (values: readonly number[]): readonly [factor: number, sign: string] => {
  const most = Math.max(0, ...values.map(Math.abs))
  return SCALES.find(([factor]) => most >= factor) ?? [1, '']
}
