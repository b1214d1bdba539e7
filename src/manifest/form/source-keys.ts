/**
 * Which sources a part may hold, in three bytes for each: the first ones of the hashes, sorted, in base64. A source that
 * is there is always found; one that is not leads to a wrong part in 6 of 100 lookups among a million. Pure.
 */

const KEY_BYTES = 3

const keyOf = (sha256: string): number => Number.parseInt(sha256.slice(0, KEY_BYTES * 2), 16)

/** @param hashes SHA-256 of sources in hex */
export const keysOf = (hashes: readonly string[]): string => {
  const keys = [...new Set(hashes.map(keyOf))].sort((a, b) => a - b)
  const bytes = Buffer.alloc(keys.length * KEY_BYTES)
  for (const [at, key] of keys.entries()) bytes.writeUIntBE(key, at * KEY_BYTES, KEY_BYTES)
  return bytes.toString('base64')
}

export const decodeKeys = (keys: string): Buffer => Buffer.from(keys, 'base64')

/** Whether a source may be among those of decoded keys. */
export const hasKey = (keys: Buffer, sha256: string): boolean => {
  const wanted = keyOf(sha256)
  let [low, high] = [0, keys.length / KEY_BYTES]
  while (low < high) {
    const middle = (low + high) >> 1
    const key = keys.readUIntBE(middle * KEY_BYTES, KEY_BYTES)
    if (key === wanted) return true
    if (key < wanted) low = middle + 1
    else high = middle
  }
  return false
}
