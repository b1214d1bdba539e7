/** Keys of objects, looked up where they stand. */

import type { KeyTable } from '../../rows/key-table.ts'
import type { JsonScan } from './json-scan.ts'

/**
 * Steps over the next key and its colon; afterwards its text stands from `scan.keyStart` to `scan.keyEnd`.
 * @returns the index of its name in `keys`, or -1
 */
export const readKey = (scan: JsonScan, keys: KeyTable): number => {
  const escaped = scan.skipKey()
  return findName(scan, keys, escaped, scan.keyStart, scan.keyEnd)
}

/** Index of the name that stands between two quotes, or -1. */
export const findName = (
  scan: JsonScan,
  names: KeyTable,
  escaped: boolean,
  start: number,
  end: number,
): number => {
  if (!escaped) return names.find(scan.buffer, start, end)
  const name = Buffer.from(scan.textOf(start, end))
  return names.find(name, 0, name.length)
}
