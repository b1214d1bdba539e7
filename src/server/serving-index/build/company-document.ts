/** Writes a company's document so that the pieces that answers replace can be found again. */

import type { CompanyPieces } from '../../../load/restore/restore.ts'
import type { CompanyPlace } from '../index-form.ts'
import type { DocumentWriter } from './document-writer.ts'

export type WrittenPlace = Omit<CompanyPlace, 'currency'>

const figuresOf = ({ financials, unconsolidated }: CompanyPieces): string =>
  [
    financials === undefined ? [] : [`"Financials":${financials}`],
    unconsolidated === undefined ? [] : [`"UnconsolidatedFinancials":${unconsolidated}`],
  ]
    .flat()
    .join(',')

/** Members of an object's text, without its braces. */
const membersOf = (object: string): string => object.slice(1, -1)

const CURRENCY = '"CurrentCurrencyCode":'

/** Writes one document and its line end. */
export const writeCompany = (writer: DocumentWriter, company: CompanyPieces): WrittenPlace => {
  const { currency, meta, rest, score } = company
  const figures = figuresOf(company)
  const { at } = writer
  writer.beginDocument()
  const place = (): number => writer.at - at
  let currencyAt: number | null = null
  writer.write('{')
  if (currency !== undefined || meta !== undefined) {
    writer.write('"MetaData":{')
    if (currency !== undefined) {
      writer.write(CURRENCY)
      currencyAt = place()
      writer.write(JSON.stringify(currency))
      if (meta !== undefined) writer.write(',')
    }
    writer.write(meta === undefined ? '},' : `${membersOf(meta)}},`)
  }
  const figuresAt = place()
  const figuresBytes = writer.write(figures)
  // The rest always has the company's id, so there is a member behind every comma.
  writer.write(figures === '' ? membersOf(rest) : `,${membersOf(rest)}`)
  const scoreBytes = score === undefined ? 0 : writer.write(`,"Score":${score}`)
  writer.write('}')
  const bytes = place()
  const { crc32 } = writer
  writer.write('\n')
  return { at, bytes, crc32, currencyAt, figuresAt, figuresBytes, scoreBytes }
}
