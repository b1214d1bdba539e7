/**
 * The file of rates that a person loaded into a lake: CSV, and before it a line with the hash of all bytes behind it. A
 * cut leaves that line, so a shorter file is never mistaken for a whole one. Knows no rates.
 */

import { sha256Of } from '../../support/hash.ts'

const HASH_LINE = /^# sha256 ([0-9a-f]{64})\n/

export const ratesFileText = (csvText: string): string => `# sha256 ${sha256Of(csvText)}\n${csvText}`

/** The CSV; `null` where it is not what was written. */
export const readRatesFile = (bytes: Buffer): string | null => {
  const [line = '', sha256] = HASH_LINE.exec(bytes.subarray(0, 80).toString('latin1')) ?? []
  const rest = bytes.subarray(line.length)
  return sha256Of(rest) === sha256 ? rest.toString('utf8') : null
}
