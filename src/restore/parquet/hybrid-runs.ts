/** Parquet's hybrid of runs and packed bits, in which places in dictionaries and definition levels stand. */

/** Widest number that is unpacked: with seven bits more it fits into a word. */
const MOST_BITS = 24

/** Reads heads of runs of equal numbers, and of eight times as many numbers that are packed: one object for them all. */
class HeadReader {
  isPacked = false
  count = 0
  /** Place behind it. */
  end = 0

  read(bytes: Uint8Array, start: number): void {
    let head = 0
    let at = start
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined) throw new RangeError(`Cannot unpack numbers: the page ends at byte ${at - 1}`)
      head |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    this.isPacked = (head & 1) === 1
    this.count = head >>> 1
    this.end = at
  }
}
const head = new HeadReader()

/** The number of one bit that all are; `undefined` where they stand in several runs. */
export const onlyRun = (bytes: Uint8Array, start: number, count: number): number | undefined => {
  if (count === 0) return 0
  head.read(bytes, start)
  return !head.isPacked && head.count >= count ? bytes[head.end] : undefined
}

/** Unpacks `count` numbers of `width` bits each. @returns the place behind them */
export const readHybrid = (
  bytes: Uint8Array,
  start: number,
  {
    width,
    into,
    from,
    count,
  }: { readonly width: number; readonly into: Uint32Array; readonly from: number; readonly count: number },
): number => {
  if (width > MOST_BITS)
    throw new RangeError(`Cannot unpack numbers of ${width} bits, expected at most ${MOST_BITS}`)
  const end = from + count
  let at = start
  let to = from
  while (to < end) {
    head.read(bytes, at)
    at = head.end
    if (!head.isPacked) {
      let value = 0
      for (let shift = 0; shift < width; shift += 8) value |= (bytes[at++] ?? 0) << shift
      const stop = Math.min(end, to + head.count)
      // Most runs are short: a call of `fill` would cost more.
      while (to < stop) into[to++] = value
    } else {
      const stop = Math.min(end, to + 8 * head.count)
      unpack(bytes, at, width, into, to, stop)
      at += head.count * width
      to = stop
    }
  }
  return at
}

const unpack = (
  bytes: Uint8Array,
  start: number,
  width: number,
  into: Uint32Array,
  from: number,
  to: number,
): void => {
  const mask = (1 << width) - 1
  let at = start
  let held = 0
  let bits = 0
  for (let place = from; place < to; place++) {
    while (held < width) {
      bits |= (bytes[at++] ?? 0) << held
      held += 8
    }
    into[place] = bits & mask
    bits >>>= width
    held -= width
  }
}
