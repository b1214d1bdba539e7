/** What is done to a lake in its life besides loading: compactions, a forget, publications, gc. */

import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { compact } from '../../src/jobs/compact.ts'
import { gc } from '../../src/jobs/gc.ts'
import { readHeld } from '../../src/manifest/snapshots/held.ts'
import { listSnapshots } from '../../src/manifest/snapshots/snapshots.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { publish } from '../../src/targets/publish.ts'
import { compareCatalog } from '../manifest/ducklake/in-catalog.ts'
import { missingDuckLake } from '../support/ducklake.ts'
import { compareAgents } from './year-agents.ts'
import type { ExpectedLake } from './year-expected.ts'
import { checkFiles } from './year-files.ts'
import { forgetSome } from './year-forget.ts'
import { compareReaders, otherReadersMissing } from './year-readers.ts'
import { checkRoom } from './year-room.ts'

const WEEK = 7
const QUARTER = 13 * WEEK
const KEEP_DAYS = 30
/** The last night ends one too. */
export const endsWeek = (night: number, nights: number): boolean =>
  night % WEEK === WEEK - 1 || night === nights - 1

const PERSONAL = /"19500101-\d|"First\d|"Last\d/

export class YearLife {
  readonly #lake: string
  readonly #expected: ExpectedLake
  readonly #nights: number
  /** The last compaction: the night that it followed, and the companies that it left. */
  compacted: { readonly night: number; readonly companies: number } | undefined
  /** The night that a forget followed. */
  forgot: number | undefined

  /** What the lake takes on disk, at the end of the last week. */
  room = ''
  /** How often the catalog was compared with what a query gives. */
  catalogsRead = 0
  /** How often an agent's answers were compared. */
  askedByAgents = 0
  /** How often other readers have read what is published. */
  readByOthers = 0

  constructor(lake: string, expected: ExpectedLake, nights: number) {
    this.#lake = lake
    this.#expected = expected
    this.#nights = nights
  }

  /** What is due after a night. @returns what was wrong, and whether it was done anything to */
  async live(night: number): Promise<{ readonly wrong: readonly string[]; readonly changed: boolean }> {
    const wrong: string[] = []
    const [quarter, half] = [4, 2].map((part) => Math.floor(this.#nights / part)) as [number, number]
    const isDue = [quarter, half - 1, half].includes(night)
    if (night === half - 1) {
      wrong.push(...(await forgetSome(this.#lake, this.#expected)))
      this.forgot = night
    }
    if (night === quarter || night === half) await this.#compact(night)
    const ends = endsWeek(night, this.#nights)
    if (ends) {
      wrong.push(...(await this.#endWeek(night)), ...(await this.#readByOthers(night)))
      wrong.push(...(await this.#askAsAgent(night)))
    }
    return { wrong, changed: isDue || ends }
  }

  async #compact(night: number): Promise<void> {
    await compact({ lake: this.#lake })
    this.#expected.compact()
    this.compacted = { night, companies: this.#expected.companies.current.size }
  }

  async #endWeek(night: number): Promise<readonly string[]> {
    // In the first week without Iceberg, which comes to a lake that is published already.
    await publish({ lake: this.#lake, formats: night < WEEK ? ['delta'] : ['delta', 'iceberg'] })
    await gc({ lake: this.#lake, keepDays: KEEP_DAYS })
    const { wrong, text } = await checkRoom(this.#lake)
    this.room = text
    return [
      ...(await checkFiles(this.#lake, (await readHeld(this.#lake))?.run)),
      ...wrong,
      ...(await this.#checkLess()),
      ...(await this.#checkCatalog()),
    ]
  }

  /** As DuckDB's extension reads it: the newest snapshot, one in the middle and the oldest. */
  async #checkCatalog(): Promise<readonly string[]> {
    if (missingDuckLake() !== undefined) return []
    const snapshots = await listSnapshots(this.#lake)
    const some = [0, Math.floor(snapshots.length / 2), snapshots.length - 1].flatMap(
      (at) => snapshots[at] ?? [],
    )
    this.catalogsRead += 1
    return compareCatalog(this.#lake, [...new Set(some)])
  }

  /** Each quarter of a whole year: other readers take a while to start. */
  async #readByOthers(night: number): Promise<readonly string[]> {
    if (night % QUARTER !== QUARTER - 1 || otherReadersMissing() !== undefined) return []
    this.readByOthers += 1
    return await compareReaders(this.#lake, this.#expected)
  }

  /** Each quarter, and at the end of a short year. */
  async #askAsAgent(night: number): Promise<readonly string[]> {
    if (night % QUARTER !== QUARTER - 1 && night !== this.#nights - 1) return []
    this.askedByAgents += 1
    return await compareAgents(this.#lake, this.#expected)
  }

  /** An export without persons has none of their names and ids. */
  async #checkLess(): Promise<readonly string[]> {
    const directory = join(this.#lake, '..', 'exported')
    await exportTables({
      ...{ lake: this.#lake, tables: ['relation_entities'], take: { leaveOut: ['persons'] } },
      to: { kind: 'folder', format: 'jsonl', directory },
    })
    const names = await readdir(directory)
    const strings = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))
    await rm(directory, { recursive: true })
    const entities = strings.join('').split('\n').length - 1
    if (entities < 1) return ['an export without persons has no entities']
    return PERSONAL.test(strings.join('')) ? ['an export without persons has names or ids of theirs'] : []
  }
}
