/** The names of the contract as they stand in a line. */

/** A name as a key of an object that holds an object, `TotalAssets":{`. Its text stands behind these fields. */
@unmanaged
export class Key {
  /** Which bits of its last eight bytes are its own. */
  lastMask: u64 = 0
  length: u8 = 0
  /** Of a line item the category, and that in which the scale applies to it: -1 where it never does. Of a category its first line item. */
  category: i8 = 0
  scaledIn: i8 = 0
  /** The line item that followed this one, or stood first in this category, the last time. */
  next: u8 = 0
  /** The object in which this line item was seen last. */
  seenIn: u32 = 0
}
const TEXT_AT: usize = 16
export const KEY_BYTES: usize = 80

/** Where the room writes the keys of line items and of categories: 128 each. */
export const LINE_ITEM_KEYS: usize = memory.data(10240, 8)
export const CATEGORY_KEYS: usize = memory.data(10240, 8)
export let lineItems: i32 = 0
export let categories: i32 = 0

/** Says how many keys the room has written. */
export function setKeys(ofLineItems: i32, ofCategories: i32): void {
  lineItems = ofLineItems
  categories = ofCategories
}

/** Whether the text of a key stands at `at`. */
export function isAt(at: usize, key: usize): bool {
  let text = key + TEXT_AT
  let left: i32 = changetype<Key>(key).length
  while (left > 8) {
    if (load<u64>(at) !== load<u64>(text)) return false
    at += 8
    text += 8
    left -= 8
  }
  return ((load<u64>(at) ^ load<u64>(text)) & changetype<Key>(key).lastMask) === 0
}

/** The key that stands at `at`, behind its opening quote, looked for from `first` on; -1 where it is none of these. */
export function find(at: usize, keys: usize, count: i32, first: i32): i32 {
  let key = first
  for (let tried = 0; tried < count; tried++) {
    if (isAt(at, keys + <usize>key * KEY_BYTES)) return key
    if (++key === count) key = 0
  }
  return -1
}
