/** The report in a real browser: every page, on the sample, on awkward data and on an empty lake. */

import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { report } from '../../src/jobs/report.ts'
import { loadSampleLake } from '../analysis/sample-lake.ts'
import { axeFindings, openBrowser, watchPage } from '../support/browser.ts'
import { ABSENT, BACKWARDS, IMAGE, LONG, loadAwkwardLake, loadEmptyLake, SCRIPT } from './lakes.ts'

/** Screenshots to look at; not kept in the repository. */
const PICTURES = fileURLToPath(new URL('../../test-artefacts/report/', import.meta.url))
const PICTURE_HEIGHT = 9000
const PAGES = ['overview', 'loads', 'business', 'coverage', 'changes', 'drift', 'quarantine', 'quality']
/** Screens of 900 px that the sample takes at most, by the width. */
const SCREENS = { 1400: 4.5, 390: 9 } as const
const LAKES = {
  sample: (lake: string) => loadSampleLake(lake),
  awkward: loadAwkwardLake,
  empty: loadEmptyLake,
} as const
type LakeName = keyof typeof LAKES
const NAMES = Object.keys(LAKES) as LakeName[]

/** Opens or folds up what stands in a report: everybody may. */
const SET_DETAILS = (open: boolean): string =>
  `document.querySelectorAll('details').forEach((one) => { one.open = ${open} })`

let folder = ''
const fileOf = (name: LakeName): string => join(folder, `${name}.html`)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  await mkdir(PICTURES, { recursive: true })
  for (const name of NAMES) {
    const lake = join(folder, name)
    await LAKES[name](lake, folder)
    await report({ lake, to: fileOf(name), maxAgeMs: 1, maxQuarantined: 0.5, noNewDrift: true })
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const openPage = async (browser: Browser, address: string, colorScheme: 'light' | 'dark') => {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1600, height: 900 } })
  const watched = watchPage(page, address)
  await page.goto(address)
  return { page, watched }
}

/** Every link of the navigation leads to its page; a picture shows all of them. */
const walkPages = async (page: Page, picture: string): Promise<void> => {
  const links = page.locator('nav a')
  expect(await links.count()).toBe(PAGES.length)
  for (const [at, id] of PAGES.entries()) {
    expect(await links.nth(at).getAttribute('href')).toBe(`#${id}`)
    expect(await page.locator(`#${id}`).isVisible()).toBe(true)
  }
  const clip = { x: 0, y: 0, width: page.viewportSize()?.width ?? 0, height: PICTURE_HEIGHT }
  await page.screenshot({ path: join(PICTURES, `${picture}.png`), fullPage: true, clip })
}

/** Elements that reach beyond the screen, those left out that scroll in themselves or are for the ear alone. */
const BEYOND = `[...document.querySelectorAll('body *')].filter((one) => {
  const { right, left, width } = one.getBoundingClientRect()
  return one.checkVisibility() && width > 1 && (right > innerWidth + 0.5 || left < -0.5) && !one.closest('.wide, nav, pre')
}).map((one) => one.outerHTML.slice(0, 120))`

const expectToFit = async (page: Page, widths: readonly number[]): Promise<void> => {
  await page.evaluate(SET_DETAILS(true))
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect([width, await page.evaluate(BEYOND)]).toEqual([width, []])
  }
}

/** Of many rows and fields the first say what all would; other lakes have few of them. */
const THIN_OUT = `document.querySelectorAll('tbody tr:nth-child(n+4), svg > :nth-child(n+20)').forEach((one) => one.remove())`

/** Of all pages below each other, with everything unfolded. */
const findingsOf = async (page: Page, name: LakeName): Promise<readonly string[]> => {
  await page.evaluate(SET_DETAILS(true))
  if (name === 'sample') await page.evaluate(THIN_OUT)
  return axeFindings(page, { include: ['body'] })
}

test('every page of a report is quiet, accessible and fits, light and dark', async (context) => {
  const browser = await openBrowser(context)
  for (const name of NAMES) {
    const address = pathToFileURL(fileOf(name)).href
    const light = await openPage(browser, address, 'light')
    expect(await light.page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      'rgb(251, 251, 249)',
    )
    await walkPages(light.page, `${name}-light-1600`)
    for (const [width, screens] of name === 'sample' ? Object.entries(SCREENS) : []) {
      await light.page.setViewportSize({ width: Number(width), height: 900 })
      const height = await light.page.evaluate<number>('document.documentElement.scrollHeight')
      expect(height / 900).toBeLessThan(screens)
    }
    await expectToFit(light.page, [768, 360, 1600])
    expect([name, await findingsOf(light.page, name)]).toEqual([name, []])
    expect(light.watched).toEqual({ requests: [], complaints: [] })
    await light.page.close()

    const dark = await openPage(browser, address, 'dark')
    expect(await dark.page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      'rgb(15, 18, 20)',
    )
    await dark.page.setViewportSize({ width: 360, height: 900 })
    await walkPages(dark.page, `${name}-dark-360`)
    if (name === 'awkward') expect(await findingsOf(dark.page, name)).toEqual([])
    expect(dark.watched).toEqual({ requests: [], complaints: [] })
    await dark.page.close()
  }
})

test('the keyboard alone opens a page, its numbers and its statement, and scrolls a chart', async (context) => {
  const browser = await openBrowser(context)
  const { page } = await openPage(browser, pathToFileURL(fileOf('awkward')).href, 'light')
  const focused = (): Promise<string> =>
    page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')
  const tabTo = async (text: string): Promise<void> => {
    for (let presses = 0; presses < 40 && (await focused()) !== text; presses += 1)
      await page.keyboard.press('Tab')
    expect(await focused()).toBe(text)
  }
  // The link of the verdict leads to what is folded up, and opens it.
  await tabTo('Why it failed')
  await page.keyboard.press('Enter')
  expect(await page.locator('#open-runs').isVisible()).toBe(true)
  await tabTo('Table: Runs without a snapshot')
  for (const title of ['Restated by line item', 'Reasons'])
    for (const what of ['Numbers', 'SQL']) {
      await tabTo(`${what} of “${title}”`)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      // A table that may be wider than the screen is scrolled by keyboard, a statement is read by it.
      expect(await focused()).toMatch(what === 'SQL' ? /^(WITH|SELECT) / : `Table: ${title}`)
    }
  expect(await page.locator('#quarantine .card > .fold > details[open]').count()).toBe(2)
})

test('a name leads to the row of its company', async (context) => {
  const browser = await openBrowser(context)
  const { page } = await openPage(browser, pathToFileURL(fileOf('awkward')).href, 'dark')
  const row = page.locator('#company-1')
  expect(await row.isVisible()).toBe(false)
  await page.locator('#changes .quiet a[href="#company-1"]').first().press('Enter')
  await row.waitFor({ state: 'visible' })
  expect(await row.locator('th').textContent()).toBe(IMAGE)
})

test('hostile names are text, protected persons and bad lines are absent, on a server and on paper too', async (context) => {
  const browser = await openBrowser(context)
  const bytes = await readFile(fileOf('awkward'))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('Content-Type', 'text/html').end(bytes)
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { page, watched } = await openPage(browser, `http://127.0.0.1:${port}/report.html`, 'light')
  const names = await page.locator('#changes .line th a').allTextContents()
  const cut = `${LONG.slice(0, 300)}… (4000 characters)`
  expect(names.sort()).toEqual([IMAGE, SCRIPT, BACKWARDS.replace('\u0007', '\u2407'), cut].sort())
  expect(await page.locator('#drift td, #drift th').allTextContents()).toContain(IMAGE)
  expect(await page.title()).toMatch(/^Company data: report of snapshot \d+$/)
  expect(await page.locator('img, script, [onerror]').count()).toBe(0)
  const all = await page.content()
  for (const text of ABSENT) expect(all).not.toContain(text)
  expect(watched).toEqual({ requests: [], complaints: [] })
  expect(asked).toEqual(['/report.html'])

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await page.setViewportSize({ width: 680, height: 960 })
  for (const id of PAGES) expect(await page.locator(`#${id}`).isVisible()).toBe(true)
  expect(await page.locator('nav').isVisible()).toBe(false)
  // On paper nothing is folded up.
  for (const id of ['checks', 'durations', 'company-1'])
    expect(await page.evaluate(`document.getElementById('${id}').checkVisibility()`)).toBe(true)
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.screenshot({ path: join(PICTURES, 'awkward-print.png'), fullPage: true })
  await page.pdf({ path: join(PICTURES, 'awkward.pdf'), preferCSSPageSize: true })
})
