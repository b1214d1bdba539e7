/** Least and greatest values as Iceberg writes them: the binary form of a single value, texts cut short. */

/** Characters of a text that a bound keeps: enough to leave files out, and manifests stay small. */
const TEXT_LENGTH = 16
const LAST_CHARACTER = 0x10ffff
const BEFORE_SURROGATES = 0xd7ff
const AFTER_SURROGATES = 0xe000

const long = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}
const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}
/** Iceberg has -0 before 0, and in a file's own ends either may stand for both: as a bound zero takes in the other. */
const double = (value: number, end: 'lower' | 'upper'): Buffer => {
  const zero = end === 'lower' ? -0 : 0
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value === 0 ? zero : value)
  return bytes
}

const INSTANT = /^(.+\.\d{3})(\d{3})Z$/

/** `2025-01-31T12:00:00.000123Z` in microseconds since 1970. */
const microseconds = (instant: string): bigint | null => {
  const [, milliseconds = '', rest = ''] = INSTANT.exec(instant) ?? []
  const parsed = Date.parse(`${milliseconds}Z`)
  return Number.isNaN(parsed) ? null : BigInt(parsed) * 1000n + BigInt(rest)
}

/** The least text of so many characters that is greater than every text beginning like this one. */
const above = (characters: readonly string[]): string | null => {
  for (let at = characters.length - 1; at >= 0; at--) {
    const code = characters[at]?.codePointAt(0) ?? LAST_CHARACTER
    if (code === LAST_CHARACTER) continue
    const next = code === BEFORE_SURROGATES ? AFTER_SURROGATES : code + 1
    return [...characters.slice(0, at), String.fromCodePoint(next)].join('')
  }
  return null
}

const text = (value: string, end: 'lower' | 'upper'): Buffer | null => {
  const characters = Array.from(value)
  if (characters.length <= TEXT_LENGTH) return Buffer.from(value)
  const kept = characters.slice(0, TEXT_LENGTH)
  const bound = end === 'lower' ? kept.join('') : above(kept)
  return bound === null ? null : Buffer.from(bound)
}

/**
 * A bound of a column.
 *
 * Source: Apache Iceberg, table specification, "Binary single-value serialization".
 *
 * @param type Iceberg's name of a primitive type
 * @param value of `timestamptz` as `2025-01-31T12:00:00.000123Z`
 * @returns `null` where there is none: a type without bounds, NaN, a text that nothing is greater than
 */
export const boundOf = (
  type: string,
  value: string | number | bigint | boolean,
  end: 'lower' | 'upper',
): Buffer | null => {
  switch (type) {
    case 'long':
      return long(BigInt(value))
    case 'timestamptz': {
      const instant = microseconds(String(value))
      return instant === null ? null : long(instant)
    }
    case 'int':
      return int(Number(value))
    case 'double':
      return Number.isNaN(Number(value)) ? null : double(Number(value), end)
    case 'boolean':
      return Buffer.of(value === true ? 1 : 0)
    case 'string':
      return text(String(value), end)
    default:
      return null
  }
}
