/** Every text of every answer is a hostile name: each page has the elements and attributes that it has with harmless ones. */

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { query } from '../../src/jobs/query/query.ts'
import type { AskExplorer } from '../../src/server/explorer/explorer.ts'
import { openWebFiles } from '../../src/server/explorer/pages/web-files.ts'
import { openBrowsing } from '../server/explorer/explorer-lake.ts'
import { openFake, TOKEN } from '../server/http/open-fake.ts'
import { openBrowser, watchPage } from '../support/browser.ts'
import { HOSTILE_NAMES } from '../support/hostile-names.ts'
import { sharedLake } from '../support/lakes.ts'

/** As long as the hostile ones, and as different. */
const HARMLESS_NAMES = HOSTILE_NAMES.map((name, at) => String.fromCodePoint(97 + at).repeat(name.length))

/** Columns whose texts are words of our statements, numbers, or days. */
const OURS =
  /^(id|kind|direction|facet|severity|rule|state|night|newest|since|years|snapshot|run|.*_(at|id|kind|date|end))$/

const REPORT_PAGES = ['loads', 'business', 'coverage', 'drift', 'quarantine', 'changes', 'quality']

let lake = ''
let company = ''
let opened: { readonly ask: AskExplorer; readonly close: () => Promise<void> }
beforeAll(async () => {
  lake = await sharedLake('deliveries')
  opened = await openBrowsing(lake, 512 * 1024 ** 2)
  const [row] = await query({
    lake,
    sql: `SELECT r.internal_id AS id FROM restatements AS r JOIN companies USING (internal_id)
WHERE internal_id IN (SELECT owned_id FROM owners_current) ORDER BY 1 LIMIT 1`,
  })
  company = String(row?.id)
})
afterAll(() => opened.close())

/** Asks, and puts names in the place of the texts of the answer, one after the other. */
const named =
  (names: readonly string[]): AskExplorer =>
  async (...asked) => {
    const reply = await opened.ask(...asked)
    if (reply.kind !== 'answer') return reply
    let next = 0
    const named = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(named)
      if (typeof value !== 'string') return value
      next += 1
      return names[next % names.length]
    }
    const { columns } = reply
    const rows = reply.rows.map((row) =>
      row.map((value, at) => (OURS.test(columns[at] ?? '') ? value : named(value))),
    )
    return { ...reply, rows }
  }

/** Elements of a page with the names of their attributes; what attributes lead to. */
const SHAPE = `({
  elements: [...document.querySelectorAll('body *')].map((one) => [one.tagName, ...one.getAttributeNames().sort()].join(' ')),
  leads: [...document.querySelectorAll('[href], [src], [action], [style], [srcdoc]')].flatMap((one) =>
    ['href', 'src', 'action', 'style', 'srcdoc'].flatMap((name) => one.getAttribute(name) ?? []).filter((text) => !text.startsWith('#'))),
})`

const shapesOf = async (page: Page, address: string): Promise<readonly unknown[]> => {
  await page.goto(address)
  await page.keyboard.type(TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForSelector('nav')
  const shapes: unknown[] = []
  const beside = [
    `compare/${company}`,
    `proof/${company}/Consolidated/ProfitAndLoss/NetSales/2024`,
    '?country=SE&text=x&order=name&compare=1',
  ]
  for (const hash of ['', `company/${company}`, ...beside, ...REPORT_PAGES]) {
    await page.evaluate(`location.hash = '#/${hash}'`)
    await page.waitForTimeout(30)
    await expect
      .poll(
        () =>
          page.evaluate(
            `document.querySelector('main h1') !== null && document.querySelector('[aria-busy]') === null`,
          ),
        { interval: 20, timeout: 60_000 },
      )
      .toBe(true)
    expect(await page.locator('main [role=alert]').allTextContents()).toEqual([])
    shapes.push([hash, await page.evaluate(SHAPE)])
  }
  return shapes
}

test('hostile names change no element and no attribute of any page, and run nothing', async (context) => {
  const browser = await openBrowser(context)
  const webFile = openWebFiles()
  const shapes: (readonly unknown[])[] = []
  for (const names of [HARMLESS_NAMES, HOSTILE_NAMES]) {
    const address = `${await openFake({ webFile, askExplorer: named(names) })}/`
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const watched = watchPage(page, address)
    shapes.push(await shapesOf(page, address))
    expect(await page.title()).toMatch(/ – firmlake$/)
    expect(watched.complaints).toEqual([])
    expect(watched.requests.filter((url) => !url.startsWith(address) && !url.startsWith('data:'))).toEqual([])
  }
  const [harmless = [], hostile] = shapes
  expect(harmless.length).toBe(5 + REPORT_PAGES.length)
  expect(hostile).toEqual(harmless)
})
