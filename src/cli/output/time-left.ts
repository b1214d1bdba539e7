/** How long work will still take, by how fast its newest part went; says nothing before that can be known. */

import { formatDuration } from '../../support/format.ts'

/** How much of some work is done, in any unit that grows as evenly as the work does. */
export interface Amount {
  readonly done: number
  readonly total: number
  /** Set where it grows by leaps: then it says nothing about the time. */
  readonly isUneven?: true
  /** Name of the part of the work that this is about, where other parts follow. @default all of it */
  readonly part?: string
}

/** Newest time that the rate is taken of: work that becomes slower is seen soon. */
const WINDOW_MS = 30_000
/** Before that long and that far, a rate says more about the beginning than about the rest. */
const MIN_MS = 2000
const MIN_SHARE = 0.02

interface Sample {
  readonly ms: number
  readonly done: number
}

export class TimeLeft {
  #samples: Sample[] = []
  #about = ''

  /** @returns seconds; `undefined` while too little is known, or nothing moves */
  after(ms: number, { done, total, part = '' }: Amount): number | undefined {
    const about = `${part} ${total}`
    if (about !== this.#about || done < (this.#samples.at(-1)?.done ?? 0)) this.#samples = []
    this.#about = about
    this.#samples.push({ ms, done })
    // A sample older than the window stays: the rate is of all of it.
    while ((this.#samples[1]?.ms ?? ms) < ms - WINDOW_MS) this.#samples.shift()
    const [first] = this.#samples
    if (first === undefined || ms - first.ms < MIN_MS || done < MIN_SHARE * total) return undefined
    return done > first.done ? ((total - done) * (ms - first.ms)) / 1000 / (done - first.done) : undefined
  }
}

/** Seconds that a time left is rounded up to, below a time. */
const STEPS = [
  [60, 5],
  [300, 30],
  [3600, 60],
  [Infinity, 300],
] as const

/** `about 25 s left`, `about 3 min left`: no finer than is known. */
export const timeLeftText = (seconds: number, part?: string): string => {
  const [, step] = STEPS.find(([until]) => seconds < until) ?? STEPS[3]
  const about = formatDuration(Math.ceil(seconds / step) * step).replace(/ 0 (s|min)$|\.0/, '')
  return `about ${about} left${part === undefined ? '' : ' of this part'}`
}

/** Most of a load that its bar shows as done: the commit follows. */
const BEFORE_COMMIT = 0.99

export const beforeCommit = (done: number, total: number): Amount => ({
  done: Math.min(done, BEFORE_COMMIT * total),
  total,
})

/** The amount of things of which each takes long; of one alone nothing is known until it is done. */
export const amountOfThings = (done: number, total: number, part?: string): Amount | undefined =>
  total > 1 ? { done, total, ...(part !== undefined && { part }) } : undefined

const BAR_WIDTH = 16

/** `█████░░░░░░░░░░░`: full only when all is done. */
export const barOf = ({ done, total }: Amount): string => {
  const share = total > 0 ? Math.min(1, done / total) : 0
  const full = share < 1 ? Math.min(BAR_WIDTH - 1, Math.floor(share * BAR_WIDTH)) : BAR_WIDTH
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
}
