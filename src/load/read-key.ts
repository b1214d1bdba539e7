/** Keys of objects, looked up where they stand. */

import type { JsonScan } from './json-scan.ts'
import type { KeyTable } from './key-table.ts'

/**
 * Steps over the next key and its colon; afterwards its text stands from `scan.keyStart` to `scan.keyEnd`.
 * @returns the index of its name in `keys`, or -1
 */
export const readKey = (scan: JsonScan, keys: KeyTable): number =>
  scan.skipKey() ? findEscaped(scan, keys) : keys.find(scan.buffer, scan.keyStart, scan.keyEnd)

const findEscaped = (scan: JsonScan, keys: KeyTable): number => {
  const name = Buffer.from(scan.keyText())
  return keys.find(name, 0, name.length)
}
