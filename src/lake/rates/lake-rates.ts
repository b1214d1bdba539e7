/** Rates that a person loaded into a lake, in `_rates/rates.csv`, above the built-in ones. */

import { ToolkitError, writeError } from '../../core/errors.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { RATES_PATH } from '../files/layout.ts'
import { ANNUAL_AVERAGES } from './annual-averages.ts'
import { mergedTables, type Rates, type RateTable, ratesOf } from './rates.ts'

const builtInTable = (): RateTable =>
  new Map(
    Object.entries(ANNUAL_AVERAGES).map(([currency, { firstYear, unitsPerUsd }]) => [
      currency,
      new Map(unitsPerUsd.map((units, at) => [firstYear + at, units])),
    ]),
  )

const loadedTable = async (lake: string): Promise<RateTable> => {
  const path = `${lake}/${RATES_PATH}`
  const bytes = await storageOf(lake)
    .read(RATES_PATH)
    .catch((error: unknown) => {
      if (error instanceof ToolkitError) throw error
      throw new ToolkitError('RATES_UNREADABLE', `Cannot open rates "${path}"`, { path }, error)
    })
  if (bytes === null) return new Map()
  const { readRatesCsv, readRatesFile } = await import('./rates-csv.ts')
  const csvText = readRatesFile(bytes)
  if (csvText !== null) return readRatesCsv(csvText, path)
  throw new ToolkitError(
    'RATES_UNREADABLE',
    `Cannot read rates "${path}": it was changed or cut, expected the hash of its first line; remove it and load the rates again`,
    { path },
  )
}

/** The built-in rates alone. */
export const builtInRates = (): Rates => ratesOf(builtInTable())

/**
 * The built-in rates with those of a lake laid over them.
 * @throws {ToolkitError} RATES_UNREADABLE
 */
export const loadRates = async (lake: string): Promise<Rates> =>
  ratesOf(mergedTables(builtInTable(), await loadedTable(lake)))

/** How loading a file of rates changed those of the lake. */
interface RatesChange {
  /** Rates of the file, each a currency and a year. */
  readonly rates: number
  /** Rates among them that replaced a built-in or an earlier loaded rate by another. */
  readonly replaced: number
  readonly currencies: readonly string[]
}

/**
 * Adds rates of a CSV text to a lake's; a rate of the same currency and year is replaced. On the disk when it returns.
 * @param name names the text in errors
 * @throws {ToolkitError} RATES_UNREADABLE, with nothing changed; DISK_FULL, WRITE_FAILED
 */
export const addLakeRates = async (
  lake: string,
  csvText: string,
  name = 'rates.csv',
): Promise<RatesChange> => {
  const { ratesCsv, ratesFileText, readRatesCsv } = await import('./rates-csv.ts')
  const added = readRatesCsv(csvText, name)
  const loaded = await loadedTable(lake)
  const before = mergedTables(builtInTable(), loaded)
  try {
    await storageOf(lake).replace(RATES_PATH, ratesFileText(ratesCsv(mergedTables(loaded, added))))
  } catch (error) {
    throw writeError(`Cannot write rates of lake "${lake}"`, error)
  }
  const all = [...added].flatMap(([currency, years]) =>
    [...years].map(([year, units]) => ({ units, earlier: before.get(currency)?.get(year) })),
  )
  return {
    rates: all.length,
    replaced: all.filter(({ units, earlier }) => earlier !== undefined && earlier !== units).length,
    currencies: [...added.keys()].toSorted(),
  }
}
