import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { definitionsFor } from '../../../src/analysis/definitions.ts'
import { documentationOf } from '../../../src/analysis/documentation.ts'
import { LINE_ITEMS } from '../../../src/contract/line-items.ts'
import type { Company, RelationsCompany } from '../../../src/contract/objects.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { query } from '../../../src/jobs/query.ts'
import { type Figure, figuresOf, holdingsOf } from '../../analysis/expected.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const REAL = resolve('../shared/data/real')
const AMOUNTS = new Set<string>(LINE_ITEMS.filter(({ unit }) => unit === 'amount').map((one) => one.lineItem))
/** Of the places where a rule could find something, the share that it may call errors: what is found oftener is a note. */
const MOST_ERRORS = 0.005

const readLines = async <T>(name: string): Promise<T[]> =>
  (await readFile(join(REAL, `${name}.jsonl`), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line): T => JSON.parse(line))

const yearOf = ({ id, consolidation, year }: Figure): string => `${id} ${consolidation} ${year}`

/** Where each rule looks, counted in the records. */
const placesOf = (
  companies: readonly Company[],
  relations: readonly RelationsCompany[],
): Readonly<Record<string, string>> => {
  const figures = figuresOf(companies)
  const has = new Set(figures.map((one) => `${yearOf(one)} ${one.item}`))
  const sums = figures.filter(
    (one) =>
      one.item === 'TotalAssets' &&
      ['TotalCurrentAssets', 'TotalNonCurrentAssets'].every((part) => has.has(`${yearOf(one)} ${part}`)),
  )
  const inside = figures.filter(
    (one) =>
      AMOUNTS.has(one.item) &&
      [-1, 1].every((step) => has.has(`${yearOf({ ...one, year: one.year + step })} ${one.item}`)),
  )
  const owned = new Set(holdingsOf(relations).map((one) => one.owned))
  const all = `${companies.length} companies`
  return {
    quality_balance: `${sums.length} sums`,
    quality_scale: `${inside.length} amounts between two years`,
    quality_gaps: `${new Set(figures.map(({ id }) => id)).size} companies with figures`,
    ...{ quality_currency: all, quality_duplicates: all, quality_future: all },
    ...{ quality_cycles: `${owned.size} owned companies`, quality_stakes: `${owned.size} owned companies` },
  }
}

test('every rule finds in real companies what it says, and no more errors than one in 200', async ({
  skip,
}) => {
  if (!existsSync(REAL)) skip(`no folder "${REAL}"`)
  const companies = await readLines<Company>('companies')
  const places = placesOf(companies, await readLines<RelationsCompany>('relations'))
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: [join(REAL, 'companies.jsonl'), join(REAL, 'relations.jsonl')], lake })
  const rows = await query({
    lake,
    sql: 'SELECT rule, severity, count(*) AS findings FROM quality_findings GROUP BY ALL',
  })
  const count = (name: string, wanted: string): number =>
    Number(
      rows.find(({ rule, severity }) => `quality_${rule}` === name && severity === wanted)?.findings ?? 0,
    )
  for (const [name, where] of Object.entries(places)) {
    const [errors, notes] = [count(name, 'error'), count(name, 'note')]
    const definition = definitionsFor([name]).find((one) => one.name === name)
    if (definition === undefined) throw new RangeError(`Cannot find the rule "${name}"`)
    const { found = '' } = documentationOf(definition)
    const plain = found.replaceAll(',', '')
    expect([name, plain.slice(0, plain.indexOf(';'))]).toEqual([
      name,
      `of real data ${errors} errors and ${notes} notes in ${where}`,
    ])
    expect(errors / Number.parseInt(where, 10)).toBeLessThanOrEqual(MOST_ERRORS)
    const [, generated = 'none', outOf = '1'] =
      /; of generated data (\d+) errors and .* in (\d+) /.exec(plain) ?? []
    expect(Number(generated) / Number(outOf)).toBeLessThanOrEqual(MOST_ERRORS)
  }
})
