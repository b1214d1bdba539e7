import { expect, test } from 'vitest'
import { seededRandom } from '../../data/random.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { dayOf, instantsOf, unparsedTimestamps } from '../../src/lake/tables/value-sql.ts'
import { InstantReader } from '../../src/rows/read-instant.ts'

const random = seededRandom(5, 'instants', 1)
const two = (most: number): string => String(random.whole(0, most)).padStart(2, '0')
const digits = (count: number): string => Array.from({ length: count }, () => random.whole(0, 9)).join('')

const YEARS = ['0000', '0001', '0004', '1582', '1900', '1969', '1970', '2000', '2024', '9999']
const FRACTIONS = ['', '', '.5', '.50', '.000', '.999999', '.9999999', '.999999999', '.']
const ZONES = ['', '', 'Z', 'z', '+00:00', '-00:00', '+05:30', '-11:59', '+14:59', '+15:00', '+0530', '+5']

const anyText = (): string => {
  const year = random.chance(0.3) ? digits(4) : random.pick(YEARS)
  const day = `${year}-${two(13)}-${two(32)}`
  if (random.chance(0.1)) return day
  const fraction = random.chance(0.3) ? `.${digits(random.whole(1, 11))}` : random.pick(FRACTIONS)
  return `${day}${random.pick(['T', 'T', 'T', ' ', 't'])}${two(24)}:${two(60)}:${two(60)}${fraction}${random.pick(ZONES)}`
}

/** The default date-time, in the spellings that are read without DuckDB and in others. */
const ABSENT = [
  '0001-01-01T00:00:00',
  '0001-01-01T00:00:00.000Z',
  '0001-01-01T00:00:00-00:00',
  '0001-01-01T00:00:00+02:00',
  '0001-01-01 00:00:00',
  '0001-01-01',
]
const ABSENT_TOO = [
  '0001-01-01T00:00:00z',
  '0001-01-01t00:00:00',
  '0001-01-01T00:00:00.',
  '0001-01-01T00:00:00,000',
  '0001-01-01T00:00:00.0000000000',
  '0001-01-01T00:00',
  '0001-01-01T00:00Z',
  '0001-01-01 00:00:00 +0100',
  '0001-01-01T00:00:00+01',
]

const STRINGS = [
  ...ABSENT,
  ...ABSENT_TOO,
  '0001-01-01T00:00:01',
  '0001-01-01T12:00:00',
  '0001-01-01T00:00:00.0000001',
  '9999-12-31T23:59:59.999999-14:00',
  '',
  '-',
  'infinity',
  '2020-02-30T00:00:00',
  '2020-01-01T00:00:00x',
  ...Array.from({ length: 4000 }, anyText),
]

test('read gives the instants that DuckDB gives, and says which of them restore their text', async () => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  const session = await engine.connect()
  const rows = await session.rows(`
SELECT text, epoch_us(instants[1])::VARCHAR AS micros, epoch_us(${dayOf('text')})::VARCHAR AS day, ${unparsedTimestamps(['D'], 'strings', 'instants')} AS reported
FROM (SELECT text, [text] AS strings, ${instantsOf('[text]')} AS instants
  FROM (SELECT unnest([${STRINGS.map(literal).join(', ')}]) AS text))`)
  session.close()
  engine.close()
  const reader = new InstantReader()
  const forms = new Map<string, number>()
  const microsOf = (form: string): string | null =>
    form === 'absent' ? null : String((BigInt(reader.high) << 32n) + BigInt(reader.low))
  const unlike = rows.filter(({ text, micros, day, reported }) => {
    const bytes = Buffer.from(`"${text}"`)
    const form = reader.read(bytes, 1, bytes.length - 1)
    forms.set(form, (forms.get(form) ?? 0) + 1)
    if (form === 'other') return false
    if (microsOf(form) !== micros || (form === 'unlike') !== (reported !== null)) return true
    return reader.read(bytes, 1, bytes.length - 1, true) !== form || microsOf(form) !== day
  })
  expect(unlike).toEqual([])
  expect(forms.get('absent')).toBe(ABSENT.length)
  const absent = rows.filter(({ micros, reported }) => micros === null && reported === null)
  expect(absent.map(({ text }) => text)).toEqual([...ABSENT, ...ABSENT_TOO])
  expect(forms.get('plain')).toBeGreaterThan(100)
  expect(forms.get('unlike')).toBeGreaterThan(500)
})
