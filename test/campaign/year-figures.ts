/** What each night of a year takes, in one process that plays them all: time, CPU, memory, handles, files. */

import { readdir } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { countFiles } from './year-files.ts'

const MONTH = 30
/** The first nights load code and fill caches. */
const WARM_UP = 7
/** A trend over fewer nights says nothing. */
const MIN_NIGHTS = 3 * MONTH

interface NightFigures {
  readonly seconds: number
  readonly 'CPU seconds': number
  /** As the system counts it: what the process keeps to use again is in it. */
  readonly 'resident MB': number
  /**
   * The same once all garbage is collected and V8 has given back what it keeps for objects to come: it keeps more than
   * it uses, up to limits of its own, so that a process that loses nothing grows for weeks of nights.
   */
  readonly 'kept MB': number
  readonly 'heap MB': number
  /** Of buffers and native objects that JavaScript holds. */
  readonly 'external MB': number
  readonly handles: number
  readonly files: number
  readonly 'lake MB': number
}
const NAMES = [
  ...['seconds', 'CPU seconds', 'resident MB', 'kept MB', 'heap MB', 'external MB'],
  ...['handles', 'files', 'lake MB'],
] as readonly (keyof NightFigures)[]

/**
 * What the last month may have, as a multiple of the first one and of the one after the half. In a year the lake grows tenfold,
 * and so does what a night has at work: the C library's arenas fill for a hundred nights and keep that size. What is
 * lost for good shows in the second half too, where all code is loaded and all caches are full: of 300 MB kept, 0.16 MB
 * lost in each of 150 nights is found, of a heap of 50 MB a sixth of that.
 */
const MOST_GROWTH = {
  'kept MB': { year: 1.3, half: 1.08 },
  'heap MB': { year: 1.3, half: 1.08 },
  'external MB': { year: 1.5, half: 1.08 },
  handles: { year: 1.05, half: 1.05 },
} as const

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

const exposed = (): Collect => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

const meanOf = (nights: readonly NightFigures[]): NightFigures => {
  const mean = (name: keyof NightFigures): number =>
    nights.reduce((sum, night) => sum + night[name], 0) / nights.length
  return Object.fromEntries(NAMES.map((name) => [name, mean(name)])) as unknown as NightFigures
}

type Memory = Pick<NightFigures, 'resident MB' | 'kept MB' | 'heap MB' | 'external MB' | 'handles'>

export class YearFigures {
  readonly #nights: NightFigures[] = []
  readonly #collect = exposed()
  #memory: Memory | undefined

  /** Plays a night and measures it. */
  async measure<T>(lake: string, work: () => Promise<T>): Promise<T> {
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    const done = await work()
    const seconds = (performance.now() - began) / 1e3
    const { user, system } = process.cpuUsage(cpu)
    const { files, bytes } = await countFiles(lake)
    const memory = this.#memory ?? (await this.measureMemory())
    this.#nights.push({
      ...{ seconds, 'CPU seconds': (user + system) / 1e6, ...memory, files, 'lake MB': bytes / 1e6 },
    })
    return done
  }

  /**
   * Measures what the nights from now on are said to have: each time after the same work, as DuckDB keeps a hundred megabytes
   * more after a load than after a gc.
   */
  async measureMemory(): Promise<Memory> {
    const resident = process.memoryUsage.rss()
    this.#collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    const { rss, heapUsed, external } = process.memoryUsage()
    this.#memory = {
      ...{ 'resident MB': resident / 1e6, 'kept MB': rss / 1e6 },
      ...{ 'heap MB': heapUsed / 1e6, 'external MB': external / 1e6 },
      handles: (await readdir('/proc/self/fd').catch(() => [])).length,
    }
    return this.#memory
  }

  /** Means by month, a line each, and the last month against the first. */
  table(): readonly string[] {
    const line = (name: string, cells: readonly string[]): string =>
      [name.padEnd(14), ...cells.map((cell) => cell.padStart(12))].join('')
    const show = (name: string, figures: NightFigures): string =>
      line(
        name,
        NAMES.map((one) => figures[one].toFixed(2)),
      )
    const months: string[] = []
    for (let from = 0; from < this.#nights.length; from += MONTH) {
      const some = this.#nights.slice(from, from + MONTH)
      months.push(show(`${from + 1}-${from + some.length}`, meanOf(some)))
    }
    const { first, last } = this.#ends()
    const ratio = NAMES.map((name) => (last[name] / first[name]).toFixed(2))
    return [line('nights', NAMES), ...months, line('last / first', ratio)]
  }

  /** The first month after the warm-up, the first of the second half, and the last; none overlaps another. */
  #ends(): { first: NightFigures; middle: NightFigures; last: NightFigures } {
    const half = Math.floor(this.#nights.length / 2)
    const month = Math.max(1, Math.min(MONTH, Math.floor(half / 2)))
    const [first, middle] = [WARM_UP, half].map((from) => meanOf(this.#nights.slice(from, from + month)))
    const last = meanOf(this.#nights.slice(-month))
    return { first: first ?? last, middle: middle ?? last, last }
  }

  /** What has grown that must stay flat. */
  grown(): readonly string[] {
    if (this.#nights.length < MIN_NIGHTS) return []
    const { first, middle, last } = this.#ends()
    return Object.entries(MOST_GROWTH).flatMap(([key, { year, half }]) => {
      const name = key as keyof typeof MOST_GROWTH
      const says = (since: string, before: number, most: number): readonly string[] =>
        last[name] <= most * before
          ? []
          : [`${name} grew from ${before.toFixed(1)} in ${since} to ${last[name].toFixed(1)} in the last`]
      return [
        ...says('the first month', first[name], year),
        ...says('the month after the half', middle[name], half),
      ]
    })
  }
}
