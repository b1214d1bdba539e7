import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addLakeRates, builtInRates, loadRates } from '../../../src/lake/rates/lake-rates.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const HEADER = 'currency,year,units_per_usd'

test('builtInRates has 21 currencies and the US dollar', () => {
  const rates = builtInRates()
  expect(rates.currencies).toHaveLength(22)
  expect(rates.factor('USD', 'SEK', 1990)).toBe(5.9231)
  expect(rates.factor('USD', 'EUR', 2000)).toBe(1.0832)
  expect(rates.factor('USD', 'EUR', 1990)).toBe(0.9387)
  expect(rates.factor('USD', 'EUR', 2040)).toBe(rates.factor('USD', 'EUR', 2025))
})

test('loadRates of a lake without rates gives the built-in ones', async () => {
  const rates = await loadRates(await temporaryFolder())
  expect(rates.currencies).toEqual(builtInRates().currencies)
})

test('addRates adds a currency and replaces a rate, above the built-in ones', async () => {
  const lake = await temporaryFolder()
  const change = await addLakeRates(lake, `${HEADER}\nPLN,2020,3.9\nSEK,1990,6\nSEK,1991,6.0521\n`)
  expect(change).toEqual({ rates: 3, replaced: 1, currencies: ['PLN', 'SEK'] })
  const rates = await loadRates(lake)
  expect(rates.factor('USD', 'PLN', 2024)).toBe(3.9)
  expect(rates.factor('USD', 'SEK', 1990)).toBe(6)
  expect(rates.factor('USD', 'SEK', 1992)).toBe(builtInRates().factor('USD', 'SEK', 1992))
})

test('addRates keeps what was loaded before', async () => {
  const lake = await temporaryFolder()
  await addLakeRates(lake, `${HEADER}\nPLN,2020,3.9\nPLN,2021,3.8\n`)
  expect(await addLakeRates(lake, `${HEADER}\nPLN,2021,4\n`)).toMatchObject({ replaced: 1 })
  const text = `${HEADER}\nPLN,2020,3.9\nPLN,2021,4\n`
  expect(await readFile(join(lake, '_rates/rates.csv'), 'utf8')).toBe(`# sha256 ${sha256Of(text)}\n${text}`)
  expect(await readdir(join(lake, '_rates'))).toEqual(['rates.csv'])
})

test('addRates changes nothing where a line is wrong', async () => {
  const lake = await temporaryFolder()
  await expect(addLakeRates(lake, `${HEADER}\nPLN,2020,3.9\nPLN,2021\n`, 'mine.csv')).rejects.toMatchObject({
    code: 'RATES_UNREADABLE',
    message: expect.stringContaining('"mine.csv": line 3'),
  })
  expect(await readdir(lake)).toEqual([])
})

test('loadRates refuses a damaged file of the lake', async () => {
  const lake = await temporaryFolder()
  await addLakeRates(lake, `${HEADER}\nPLN,2020,3.9\n`)
  await writeFile(join(lake, '_rates/rates.csv'), `${HEADER}\nPLN,2020,x\n`)
  await expect(loadRates(lake)).rejects.toMatchObject({ code: 'RATES_UNREADABLE' })
})

test('loadRates takes no changed bit and no cut of what addRates wrote for rates', async () => {
  const lake = await temporaryFolder()
  await addLakeRates(lake, `${HEADER}\nPLN,2020,3.9\nPLN,2021,4\n`)
  const path = join(lake, '_rates/rates.csv')
  const whole = await readFile(path)
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    for (const bytes of [changed, whole.subarray(0, at)]) {
      await writeFile(path, bytes)
      await expect(loadRates(lake)).rejects.toMatchObject({ code: 'RATES_UNREADABLE' })
    }
  }
})

test('loadRates takes no file without its hash', async () => {
  const lake = await temporaryFolder()
  await mkdir(join(lake, '_rates'))
  await writeFile(join(lake, '_rates/rates.csv'), `${HEADER}\nPLN,2020,3.9\n`)
  await expect(loadRates(lake)).rejects.toMatchObject({ code: 'RATES_UNREADABLE' })
})
