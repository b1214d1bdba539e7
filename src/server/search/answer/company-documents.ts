/** Company documents as an answer has them: with their Score, and in the requested currency. Works on their bytes. */

import { alwaysPresent } from '../../../contract/objects.ts'
import type { Rates } from '../../../lake/rates/rates.ts'
import { JSON_BYTES, membersAt } from '../../../support/json-bytes.ts'
import type { CompanyPlace } from '../../serving-index/index-form.ts'
import { convertFigures, type FactorOf } from './convert-figures.ts'

const { OPEN_BRACE } = JSON_BYTES

/** Factors into a currency, each worked out once: a page asks for the same few hundred thousands of times. */
export type Converter = (currency: string) => FactorOf | null

/**
 * Factors from a document's currency into the requested one; `null` where the document stays as it is: it is in that
 * currency already, or its own has no rate.
 */
export const newConverter = (rates: Rates, requested: string): Converter => {
  const known = new Map<string, FactorOf | null>()
  return (given) => {
    const currency = given.toUpperCase()
    const before = known.get(currency)
    if (before !== undefined) return before
    const years = new Map<number, number | undefined>()
    const factorOf: FactorOf = (year) => {
      if (!years.has(year)) years.set(year, rates.factor(currency, requested, year))
      return years.get(year)
    }
    const found = currency === requested || !rates.has(currency) ? null : factorOf
    known.set(currency, found)
    return found
  }
}

export interface DocumentOptions {
  readonly requested: string
  readonly converter: Converter
  /** Relevance, where texts were searched. */
  readonly score: number | null
}

/** Bytes to be put in place of others. */
interface Change {
  readonly from: number
  readonly to: number
  readonly bytes: Buffer
}

const currencyChanges = (document: Buffer, place: CompanyPlace, options: DocumentOptions): Change[] => {
  const { currency, currencyAt, figuresAt, figuresBytes } = place
  const factorOf = currency === null || currencyAt === null ? null : options.converter(currency)
  if (factorOf === null || currency === null || currencyAt === null) return []
  const label = JSON.stringify(currency)
  const change = {
    from: currencyAt,
    to: currencyAt + Buffer.byteLength(label),
    bytes: Buffer.from(JSON.stringify(options.requested)),
  }
  if (figuresBytes === 0) return [change]
  const to = figuresAt + figuresBytes
  return [change, { from: figuresAt, to, bytes: convertFigures(document.subarray(figuresAt, to), factorOf) }]
}

/** A stored Score is of another search: it goes, and this search's takes its place before the last brace. */
const scoreChanges = (document: Buffer, { scoreBytes }: CompanyPlace, score: number | null): Change[] => {
  const end = document.length - 1
  if (scoreBytes === 0 && score === null) return []
  return [{ from: end - scoreBytes, to: end, bytes: Buffer.from(score === null ? '' : `,"Score":${score}`) }]
}

/** Members that an object lacks, set behind its opening brace, and in the objects that it holds. @param at its place */
const missingMembers = (document: Buffer, at: number, present: object): Change[] => {
  const members = membersAt(document, at)
  const entries = Object.entries(present)
  const found = new Map(members.map(({ name, valueFrom }) => [name, valueFrom]))
  const strings = entries.flatMap(([name, value]) =>
    found.has(name) ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  )
  const text = members.length > 0 ? strings.map((one) => `${one},`).join('') : strings.join(',')
  const inside = entries.flatMap(([name, value]) => {
    const from = found.get(name)
    return from === undefined || document[from] !== OPEN_BRACE ? [] : missingMembers(document, from, value)
  })
  return [{ from: at + 1, to: at + 1, bytes: Buffer.from(text) }, ...inside]
}

/** Fields that the record lacks and every answer has. Figures of an unknown currency get no other one. */
const sparseChanges = (
  document: Buffer,
  { isSparse, figuresBytes }: CompanyPlace,
  requested: string,
): Change[] =>
  isSparse ? missingMembers(document, 0, alwaysPresent(figuresBytes === 0 ? requested : '')) : []

/** A document in pieces, in order; whole and untouched where nothing changes. */
export const documentPieces = (
  document: Buffer,
  place: CompanyPlace,
  options: DocumentOptions,
): readonly Buffer[] => {
  const changes = [
    ...sparseChanges(document, place, options.requested),
    ...currencyChanges(document, place, options),
    ...scoreChanges(document, place, options.score),
  ].toSorted((a, b) => a.from - b.from)
  const pieces: Buffer[] = []
  let at = 0
  for (const { from, to, bytes } of changes) {
    pieces.push(document.subarray(at, from), bytes)
    at = to
  }
  pieces.push(document.subarray(at))
  return pieces
}
