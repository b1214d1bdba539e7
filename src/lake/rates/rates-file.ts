/**
 * The file of rates that a person loaded into a lake: CSV, and before it a line with the hash of all bytes behind it. A
 * cut leaves that line, so a shorter file is never mistaken for a whole one. Knows no rates.
 */

import { sha256Of } from '../../support/hash.ts'

const HASH_LINE = /^# sha256 ([0-9a-f]{64})\n/

export const ratesFileText = (csvText: string): string => `# sha256 ${sha256Of(csvText)}\n${csvText}`

/** `unhashed`: written by an earlier release. */
export type RatesFile =
  | { readonly kind: 'hashed' | 'unhashed'; readonly csvText: string }
  | { readonly kind: 'damaged' }

export const readRatesFile = (bytes: Buffer): RatesFile => {
  const [line = '', sha256] = HASH_LINE.exec(bytes.subarray(0, 80).toString('latin1')) ?? []
  const rest = bytes.subarray(line.length)
  if (sha256 === undefined) {
    const csvText = bytes.toString('utf8')
    return csvText.startsWith('currency,') ? { kind: 'unhashed', csvText } : { kind: 'damaged' }
  }
  return sha256Of(rest) === sha256 ? { kind: 'hashed', csvText: rest.toString('utf8') } : { kind: 'damaged' }
}
