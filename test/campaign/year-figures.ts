/** What each night of a year takes, in one process that plays them all: time, CPU, memory, handles, files. */

import { readdir } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { countFiles } from './year-files.ts'

const MONTH = 30
/** The first nights load code and fill caches. */
const WARM_UP = 5
/** A trend over fewer nights says nothing. */
const LEAST_NIGHTS = 3 * MONTH
const MOST_GROWTH = { 'memory MB': 1.3, handles: 1.05 } as const

interface NightFigures {
  readonly seconds: number
  readonly 'CPU seconds': number
  /** Resident, after a collection of garbage. */
  readonly 'memory MB': number
  readonly 'heap MB': number
  readonly handles: number
  readonly files: number
  readonly 'lake MB': number
}
const NAMES = ['seconds', 'CPU seconds', 'memory MB', 'heap MB', 'handles', 'files', 'lake MB'] as const

const exposed = (): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

const meanOf = (nights: readonly NightFigures[]): NightFigures => {
  const mean = (name: keyof NightFigures): number =>
    nights.reduce((sum, night) => sum + night[name], 0) / nights.length
  return Object.fromEntries(NAMES.map((name) => [name, mean(name)])) as unknown as NightFigures
}

export class YearFigures {
  readonly #nights: NightFigures[] = []
  readonly #collect = exposed()

  /** Plays a night and measures it. */
  async measure<T>(lake: string, work: () => Promise<T>): Promise<T> {
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    const done = await work()
    const seconds = (performance.now() - began) / 1e3
    const { user, system } = process.cpuUsage(cpu)
    this.#collect()
    const { rss, heapUsed } = process.memoryUsage()
    const { files, bytes } = await countFiles(lake)
    this.#nights.push({
      ...{ seconds, 'CPU seconds': (user + system) / 1e6, 'memory MB': rss / 1e6, 'heap MB': heapUsed / 1e6 },
      ...{ handles: (await readdir('/proc/self/fd').catch(() => [])).length, files, 'lake MB': bytes / 1e6 },
    })
    return done
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

  #ends(): { first: NightFigures; last: NightFigures } {
    const first = meanOf(this.#nights.slice(WARM_UP, WARM_UP + MONTH))
    return { first, last: meanOf(this.#nights.slice(-MONTH)) }
  }

  /** What has grown that must stay flat. */
  grown(): readonly string[] {
    if (this.#nights.length < LEAST_NIGHTS) return []
    const { first, last } = this.#ends()
    return Object.entries(MOST_GROWTH).flatMap(([name, most]) => {
      const [before, after] = [
        first[name as keyof typeof MOST_GROWTH],
        last[name as keyof typeof MOST_GROWTH],
      ]
      return after <= most * before
        ? []
        : [`${name} grew from ${before.toFixed(1)} in the first month to ${after.toFixed(1)} in the last`]
    })
  }
}
