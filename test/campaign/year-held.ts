/**
 * Nights whose load is held back: many figures at once, of the service or in a file. As long as nobody has said what becomes of
 * them, every byte that a reader, a target or a catalog sees stays as it was.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { discard } from '../../src/jobs/discard.ts'
import { readStatus } from '../../src/jobs/lake-status.ts'
import { query } from '../../src/jobs/query.ts'
import { release } from '../../src/jobs/release.ts'
import { filesBelow } from './year-files.ts'
import { type Company, type Delivery, HELD, type NightEvent, recordOf } from './year-world.ts'

type HeldEvent = (typeof HELD)[number]

export const isHeldNight = (event: NightEvent): event is HeldEvent =>
  (HELD as readonly NightEvent[]).includes(event)

/** What a held load leaves: its run, its rows, its part of the manifest, and sources that were given up. */
const OF_HELD = /^_runs\/|\/load=|^_manifest\/(parts\/|held\.json$|discarded\.json$)/

/** Each file below a lake by its hash. */
type Shown = ReadonlyMap<string, string>

const shownIn = async (lake: string): Promise<Shown> => {
  const shown = new Map<string, string>()
  for (const path of await filesBelow(lake))
    if (!path.startsWith('_runs/') && !/^_manifest\/(held|discarded)\.json$/.test(path))
      shown.set(
        path,
        createHash('sha256')
          .update(await readFile(join(lake, path)))
          .digest('hex'),
      )
  return shown
}

/** A load that is held back. */
export interface HeldNight {
  readonly at: number
  /** The day of the night that has loaded it. */
  readonly day: string
  readonly event: HeldEvent
  readonly delivery: Delivery
  /** The companies of the service then. */
  readonly companies: readonly Company[]
  readonly before: Shown
}

export class YearHeld {
  readonly #lake: string
  readonly #inbox: string
  /** The one that nobody has decided on. */
  pending: HeldNight | undefined

  constructor(lake: string) {
    this.#lake = lake
    this.#inbox = join(lake, '..', 'inbox')
  }

  /** Puts companies into the folder of deliveries. */
  async put(name: string, companies: readonly Company[]): Promise<void> {
    await mkdir(this.#inbox, { recursive: true })
    const lines = companies.map((company) => `${JSON.stringify(recordOf(company))}\n`)
    await writeFile(join(this.#inbox, `${name}.jsonl`), lines.join(''))
  }

  /** What is about to be held back. */
  async expect(held: Omit<HeldNight, 'before'>): Promise<void> {
    const { at, delivery } = held
    if (delivery.by === 'file') await this.put(`night-${at}`, delivery.companies)
    this.pending = { ...held, before: await shownIn(this.#lake) }
  }

  /** @returns what a load that is held back has changed and must not have */
  async check(): Promise<readonly string[]> {
    const { delivery, before } = this.pending ?? {}
    if (before === undefined || delivery === undefined) return []
    const after = await shownIn(this.#lake)
    const changed = [...before].filter(([path, hash]) => after.get(path) !== hash).map(([path]) => path)
    const added = [...after.keys()].filter((path) => !before.has(path) && !OF_HELD.test(path))
    const { held } = await readStatus(this.#lake)
    const wrong = [...changed, ...added].map((path) => `"${path}" is another while a load is held back`)
    if (held === undefined) return [...wrong, 'no load is held back']
    const sales = Math.max(...delivery.companies.map((one) => one.sales))
    const sql = `SELECT count(*)::INTEGER AS found FROM financials WHERE line_item = 'NetSales' AND fiscal_year = 2025 AND value = ${sales}`
    const [shown] = await query({ lake: this.#lake, sql })
    const [inHeld] = await query({ lake: this.#lake, held: true, sql })
    if (Number(inHeld?.found) <= Number(shown?.found))
      wrong.push(`a query of the load that is held back finds ${inHeld?.found} of its largest sales`)
    return wrong
  }

  /** Forgets what was there before: the lake is about to change by other ways. */
  async moved(): Promise<void> {
    if (this.pending) this.pending = { ...this.pending, before: await shownIn(this.#lake) }
  }

  async release(): Promise<void> {
    await release({ lake: this.#lake })
    this.pending = undefined
  }

  /** @returns what is left of it */
  async discard(): Promise<readonly string[]> {
    const before = this.pending?.before ?? new Map()
    await discard({ lake: this.#lake })
    this.pending = undefined
    const left = [...(await shownIn(this.#lake)).keys()].filter((path) => !before.has(path))
    return left.map((path) => `"${path}" is left of a load that was given up`)
  }
}
