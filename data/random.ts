/** Seeded randomness: the same seed, stream and number give the same draws everywhere. Not for secrets. */

export interface Random {
  /** At least 0, below 1. */
  readonly next: () => number
  /** A whole number between both ends, both included. */
  readonly whole: (min: number, most: number) => number
  readonly between: (min: number, most: number) => number
  readonly chance: (share: number) => boolean
  readonly pick: <T>(list: readonly T[]) => T
  /** That many neighbours of the list, around its end. */
  readonly some: <T>(list: readonly T[], count: number) => T[]
  /** Roughly normal: the mean of draws is `mean`, two thirds of them lie within `spread`. */
  readonly around: (mean: number, spread: number) => number
}

const hashText = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}
const mix = (value: number): number => {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** One stream of draws (sfc32) for thing `number` of a kind, so that it does not depend on those before it. */
export const seededRandom = (seed: number, stream: string, number: number): Random => {
  let a = mix(seed ^ 0x9e3779b9)
  let b = mix(hashText(stream) ^ a)
  let c = mix(number ^ b)
  let counter = 1

  const next = (): number => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let warm = 0; warm < 8; warm++) next()

  const whole = (min: number, most: number): number => min + Math.floor(next() * (most - min + 1))
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[Math.floor(next() * list.length)]
    if (picked === undefined) throw new RangeError('Cannot pick from list: it is empty, expected a value')
    return picked
  }
  return {
    next,
    whole,
    between: (min, most) => min + next() * (most - min),
    chance: (share) => next() < share,
    pick,
    some: (list, count) => {
      const start = whole(0, list.length - 1)
      return [...list.slice(start), ...list.slice(0, start)].slice(0, count)
    },
    around: (mean, spread) => mean + spread * (next() + next() + next() - 1.5) * 2,
  }
}
