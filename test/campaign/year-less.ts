/**
 * A second lake beside a year's, whose first night declares that it takes no persons; each week's night delivers what it took
 * to a database, which is to have less still. Its later nights declare nothing more than the first.
 */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../src/lake/duckdb/sql.ts'
import { marksBelow } from '../forget/planted-lake.ts'
import { ExpectedLake } from './year-expected.ts'
import { alarmsOf, NIGHT_FILE, YearNights } from './year-night.ts'
import { compareRows, contentTables, differenceOf, type Row, textOf } from './year-rows.ts'
import { TOKEN } from './year-service.ts'
import { type Company, hasRelations, nationalIdOf } from './year-world.ts'

const SINK = 'firms.duckdb'
const LESS = `
[take]
leave_out = ["persons"]
[targets]
sinks = ["${SINK}"]
[sink_take]
leave_out = ["companies.company_name"]
`

const without = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

/** A company that is an entity keeps its name; unknown fields could tell a hidden value again. */
const withoutPersons = (table: string, row: Row): Row =>
  table.startsWith('relation_entities') && row.is_company === false
    ? without(row, ['name', 'first_name', 'last_name', 'national_identification_number', 'country_code'])
    : without(row, ['extra'])

export class YearLess {
  readonly #lake: string
  readonly #sink: string
  readonly #nights: YearNights
  readonly #expected = new ExpectedLake()

  private constructor(folder: string, url: string) {
    this.#lake = join(folder, 'lake')
    this.#sink = join(folder, SINK)
    // Nobody ever lists all companies for it.
    const nights = NIGHT_FILE.replace('"204h"', '"400d"')
    const config = `${nights}${LESS.replace(SINK, this.#sink)}`
    this.#nights = new YearNights(
      folder,
      { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN, FIRMLAKE_LAKE: this.#lake },
      config,
    )
  }

  static async open(folder: string, url: string): Promise<YearLess> {
    await mkdir(folder)
    return new YearLess(folder, url)
  }

  /** Plays a night that nothing disturbs. @returns what was wrong */
  async play(day: string, companies: readonly Company[]): Promise<readonly string[]> {
    this.#expected.pull('quiet', day, { companies, broken: new Set() })
    const alarms = alarmsOf(await this.#nights.byLibrary())
    const { wrong } = await compareRows(this.#lake, this.#expected, withoutPersons)
    return [
      ...(alarms.every((alarm) => alarm === 'new_drift') ? [] : [`it rang [${alarms}]`]),
      ...wrong,
      ...(await this.#checkSink()),
      ...(await this.#checkBytes(companies)),
    ].map((what) => `of the lake without persons: ${what}`)
  }

  /** The database has the current rows, and of these less. */
  async #checkSink(): Promise<readonly string[]> {
    const wrong: string[] = []
    const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
    try {
      const session = await engine.connect()
      await session.rows(`ATTACH ${literal(this.#sink)} AS sink (READ_ONLY)`)
      for (const [table, wanted] of contentTables(this.#expected)) {
        if (table.endsWith('_history')) continue
        const rows = await session.rows(`SELECT to_json(t)::VARCHAR AS text FROM sink.${ident(table)} AS t`)
        const found = rows.map(({ text }) => textOf(JSON.parse(String(text))))
        const hidden = table === 'companies' ? ['company_name'] : []
        const strings = wanted.map((row) => textOf(without(withoutPersons(table, row), hidden)))
        wrong.push(...differenceOf(`the database's ${table}`, found, strings))
      }
      return wrong
    } finally {
      engine.close()
    }
  }

  /** Nothing of persons is below the lake and in the database, packed or not. */
  async #checkBytes(companies: readonly Company[]): Promise<readonly string[]> {
    const personal = companies
      .filter(hasRelations)
      .flatMap(({ chair }) => [nationalIdOf(chair), `First${chair}`, `Last${chair}`])
    const name = companies.find(hasRelations)?.name ?? ''
    const found = await marksBelow(join(this.#lake, '..'), [...personal, name])
    const there = found.has(name) ? [] : [`"${name}" is not found in its bytes`]
    return [...there, ...personal.filter((mark) => found.has(mark)).map((mark) => `its bytes have "${mark}"`)]
  }
}
