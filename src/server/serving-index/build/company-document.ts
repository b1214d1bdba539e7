/** Writes a company's document so that the pieces that answers replace can be found again. */

import type { CompanyPieces } from '../../../restore/restore.ts'
import type { CompanyPlace } from '../index-form.ts'
import type { DocumentWriter } from './document-writer.ts'

/** Where its pieces stand in a company's document. */
export type CompanyOffsets = Pick<CompanyPlace, 'currencyAt' | 'figuresAt' | 'figuresBytes' | 'scoreBytes'>

const writeFigures = (writer: DocumentWriter, { financials, unconsolidated }: CompanyPieces): number => {
  let bytes = 0
  if (financials) bytes += writer.write('"Financials":') + writer.write(financials)
  if (financials && unconsolidated) bytes += writer.write(',')
  if (unconsolidated) bytes += writer.write('"UnconsolidatedFinancials":') + writer.write(unconsolidated)
  return bytes
}

/** Members of an object's text, without its braces. */
const membersOf = (object: Uint8Array): Uint8Array => object.subarray(1, -1)

const CURRENCY = '"CurrentCurrencyCode":'

/** Writes one document. */
export const writeCompany = (writer: DocumentWriter, company: CompanyPieces): CompanyOffsets => {
  const { currency, meta, rest, score } = company
  let currencyAt: number | null = null
  writer.write('{')
  if (currency !== undefined || meta !== undefined) {
    writer.write('"MetaData":{')
    if (currency !== undefined) {
      writer.write(CURRENCY)
      currencyAt = writer.at
      writer.write(currency)
      if (meta !== undefined) writer.write(',')
    }
    if (meta !== undefined) writer.write(membersOf(meta))
    writer.write('},')
  }
  const figuresAt = writer.at
  const figuresBytes = writeFigures(writer, company)
  // The rest always has the company's id, so there is a member behind every comma.
  if (figuresBytes > 0) writer.write(',')
  writer.write(membersOf(rest))
  const scoreBytes = score === undefined ? 0 : writer.write(',"Score":') + writer.write(score)
  writer.write('}')
  return { currencyAt, figuresAt, figuresBytes, scoreBytes }
}
