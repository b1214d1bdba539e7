/** Who company number `index` is: what a company line, its relations and its relatives agree on. */

import { DICTIONARIES } from '../src/contract/dictionaries.ts'
import { seededRandom } from './random.ts'
import { BRANDS, COUNTRIES, type Country, TRADES } from './words.ts'

export interface Identity {
  readonly id: number
  readonly name: string
  readonly orgNo: string
  /** Home of the company; a line may leave its code out. */
  readonly country: Country
  /** `undefined` where the service knows no country. */
  readonly countryCode: string | undefined
  readonly legalForm: number
  readonly status: number
  /** Host name below `.example`. */
  readonly host: string
}

/** Unique, not in order of size: most below 2^32, some above, some just below 2^53. */
const idOf = (index: number): number => {
  if (index % 10 === 4) return 5_000_000_000 + index * 13
  if (index % 10 === 7) return 9_007_199_000_000_000 + index
  return 1_000_000 + index * 11
}

const { LegalForm, OperationalStatus } = DICTIONARIES
const COMMON_FORMS = [1, 109, 103] as const
const ACTIVE = 10

/** Seven digits that no other company of a seed has, in no order. */
const numberOf = (seed: number, index: number): number => 1e6 + ((index * 7_919 + seed * 104_729) % 9e6)

/** Every code comes in turn, now and then; in between the common ones. */
const inTurn = (values: readonly { readonly value: number | string }[], turn: number): number =>
  Number(values[turn % values.length]?.value)

export const identityOf = (seed: number, index: number): Identity => {
  const random = seededRandom(seed, 'identity', index)
  const country = random.pick(COUNTRIES)
  const stem = `${random.pick(BRANDS)} ${random.pick(TRADES)}`
  const digits = `${numberOf(seed, index)}${random.whole(1e6, 9e6)}`.slice(0, country.orgNoDigits)
  return {
    id: idOf(index),
    name: `${stem} ${country.suffix}`,
    orgNo: random.chance(0.3) ? `${digits.slice(0, -4)}-${digits.slice(-4)}` : digits,
    country,
    countryCode: random.chance(0.01) ? undefined : country.code,
    legalForm: index % 3 === 1 ? inTurn(LegalForm.values, Math.floor(index / 3)) : random.pick(COMMON_FORMS),
    status: index % 5 === 2 ? inTurn(OperationalStatus.values, Math.floor(index / 5)) : ACTIVE,
    host: `${stem
      .normalize('NFD')
      .replace(/[^A-Za-z ]/g, '')
      .replace(/ /g, '-')
      .toLowerCase()}.example`,
  }
}
