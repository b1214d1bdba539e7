/** `rates` and its `load` and `list`: the exchange rates that a server converts figures with. */

import type { Command } from 'commander'
import { readReason, ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import { BASE_CURRENCY, type Rates } from '../../lake/rates/rates.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { LIST_RATES, LOAD_RATES } from '../../options/lake-looks.ts'
import { formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { printJson, printLines } from '../output/print.ts'
import { warnOfNoViews } from '../output/run-report.ts'
import { textTable } from '../output/text-table.ts'

export const addRates = (program: Command): void => {
  const group = program
    .command('rates')
    .summary('exchange rates that figures are converted with')
    .description('Annual averages: a built-in table, and above it what is loaded into a lake.')
  addLoad(group)
  addList(group)
}

const addLoad = (group: Command): void => {
  addCommand(group, {
    name: 'load',
    summary: 'add or replace rates of a lake',
    description:
      'Loads a CSV file with the columns currency,year,units_per_usd. Rates of the same currency and year are ' +
      'replaced. A server takes them at its next start.',
    options: LOAD_RATES,
    run: runLoad,
    examples: [['rates load rates.csv --lake ./lake', 'add rates']],
  })
}

const addList = (group: Command): void => {
  addCommand(group, {
    name: 'list',
    summary: 'show the rates of all years, or of one',
    description:
      'Lists what one US dollar is in each currency. The latest year of a currency stands in for later ones, its ' +
      'first year for earlier ones.',
    options: LIST_RATES,
    run: runList,
    examples: [
      ['rates list --lake ./lake', 'every rate of every year'],
      ['rates list --lake ./lake --year 2024', 'what figures of 2024 are converted with'],
    ],
  })
}

/** @throws {ToolkitError} LAKE_NOT_FOUND */
const checkLake = async (lake: string): Promise<void> => {
  const { readRoot } = await import('../../manifest/snapshots/snapshots.ts')
  await readRoot(lake)
}

const readCsv = async (path: string): Promise<string> => {
  try {
    return await readUserText(path)
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    const text = `Cannot open rates "${path}": ${readReason(error)}`
    throw new ToolkitError('RATES_UNREADABLE', text, { path }, error)
  }
}

const runLoad = async ({ file, lake, json }: ValuesOf<typeof LOAD_RATES>): Promise<void> => {
  const { addLakeRates: addTo } = await import('../../lake/rates/lake-rates.ts')
  await checkLake(lake)
  const change = await addTo(lake, await readCsv(file), file)
  const { updateLakeFiles } = await import('../../manifest/lake-file/lake-file.ts')
  warnOfNoViews(await updateLakeFiles(lake))
  if (json) return printJson({ lake, ...change })
  const { rates, replaced, currencies } = change
  await printLines([
    `Loaded ${formatCounted(rates, 'rate')} of ${currencies.join(', ')}; ${replaced} of them replace another.`,
  ])
}

interface Rate {
  readonly currency: string
  readonly year: number
  readonly unitsPerUsd: number | null
}

/** The rates of one year as figures are converted with them, or every rate of all years. */
const ratesOf = (rates: Rates, year: number | undefined): readonly Rate[] => {
  const known = (currency: string): readonly number[] =>
    currency === BASE_CURRENCY ? [] : rates.years(currency)
  return rates.currencies.flatMap((currency) =>
    (year === undefined ? known(currency) : [year]).map((one) => ({
      currency,
      year: one,
      unitsPerUsd: rates.factor(BASE_CURRENCY, currency, one) ?? null,
    })),
  )
}

const runList = async ({ lake, year, json }: ValuesOf<typeof LIST_RATES>): Promise<void> => {
  const { loadRates } = await import('../../lake/rates/lake-rates.ts')
  const list = ratesOf(await loadRates(lake), year)
  if (json) return printJson(list)
  const unitsOf = ({ unitsPerUsd }: Rate): string => String(unitsPerUsd)
  if (year !== undefined) {
    const columns = [{ title: 'currency' }, { title: `units per USD, ${year}`, right: true }]
    return printLines(
      textTable(
        columns,
        list.map((rate) => [rate.currency, unitsOf(rate)]),
      ),
    )
  }
  const columns = [{ title: 'currency' }, { title: 'year' }, { title: 'units per USD', right: true }]
  await printLines(
    textTable(
      columns,
      list.map((rate) => [rate.currency, String(rate.year), unitsOf(rate)]),
    ),
  )
}
