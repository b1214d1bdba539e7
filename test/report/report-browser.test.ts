/** The report in a real browser: every page, on the sample, on awkward data and on an empty lake. */

import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { report } from '../../src/jobs/report.ts'
import { loadSampleLake } from '../analysis/sample-lake.ts'
import { axeFindings, openBrowser, watchPage } from '../support/browser.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ABSENT, BACKWARDS, IMAGE, LONG, loadAwkwardLake, loadEmptyLake, SCRIPT } from './lakes.ts'

/** Screenshots to look at; not kept in the repository. */
const PICTURES = fileURLToPath(new URL('../../test-artefacts/report/', import.meta.url))
const PAGES = ['overview', 'loads', 'coverage', 'drift', 'quarantine', 'changes', 'quality']
const LAKES = {
  sample: (lake: string) => loadSampleLake(lake),
  awkward: loadAwkwardLake,
  empty: loadEmptyLake,
} as const

/** Opens or folds up what stands in a report: everybody may. */
const SET_DETAILS = (open: boolean): string =>
  `document.querySelectorAll('details').forEach((one) => { one.open = ${open} })`

const writeReport = async (name: keyof typeof LAKES): Promise<string> => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await LAKES[name](lake, folder)
  const to = join(folder, 'report.html')
  await report(lake, { to, maxAgeMs: 1, noNewDrift: true })
  return to
}

const openPage = async (
  browser: Browser,
  address: string,
  options: Parameters<Browser['newPage']>[0] = {},
) => {
  const page = await browser.newPage(options)
  const watched = watchPage(page, address)
  await page.goto(address)
  return { page, watched }
}

test.for(Object.keys(LAKES) as (keyof typeof LAKES)[])(
  'every page of a report of the %s lake is quiet, accessible and fits, light and dark',
  async (name, context) => {
    const browser = await openBrowser(context)
    await mkdir(PICTURES, { recursive: true })
    const address = pathToFileURL(await writeReport(name)).href
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 360],
    ] as const) {
      const { page, watched } = await openPage(browser, address, {
        colorScheme,
        viewport: { width, height: 900 },
      })
      const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(paper).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)')
      for (const id of PAGES) {
        await page.evaluate(`location.hash = '${id}'`)
        expect(await page.locator('main > section:visible').count()).toBe(1)
        // Of many rows the first say what all would; those of other lakes are unfolded.
        if (name !== 'sample') await page.evaluate(SET_DETAILS(true))
        const exclude = name === 'sample' ? ['tbody tr:nth-child(n+4)', 'svg *'] : []
        if (name === 'awkward' || colorScheme === 'light')
          expect([
            id,
            await axeFindings(page, {
              include: name === 'sample' ? ['header', 'nav', `#${id}`] : ['body'],
              exclude,
            }),
          ]).toEqual([id, []])
        await page.evaluate(SET_DETAILS(false))
        await page.screenshot({ path: join(PICTURES, `${name}-${id}-${colorScheme}.png`), fullPage: true })
      }
      await page.evaluate(`location.hash = ''; (${SET_DETAILS(true)})`)
      for (const width of [360, 768, 1600]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      }
      expect(watched).toEqual({ requests: [], complaints: [] })
      await page.close()
    }
  },
)

test('hostile names are text, protected persons and bad lines are absent, on a server and on paper too', async (context) => {
  const browser = await openBrowser(context)
  await mkdir(PICTURES, { recursive: true })
  const bytes = await readFile(await writeReport('awkward'))
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('Content-Type', 'text/html').end(bytes)
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { page, watched } = await openPage(browser, `http://127.0.0.1:${port}/report.html`)
  const names = await page.locator('#largest-restatements ~ .wide td:nth-child(2)').allTextContents()
  expect(names.sort()).toEqual([IMAGE, SCRIPT, BACKWARDS.replace('\u0007', '\u2407'), LONG].sort())
  expect(await page.locator('#drift td').allTextContents()).toContain(IMAGE)
  expect(await page.title()).toMatch(/^Report of snapshot \d+$/)
  expect(await page.locator('img, script, [onerror]').count()).toBe(0)
  const all = await page.content()
  for (const text of ABSENT) expect(all).not.toContain(text)
  expect(watched).toEqual({ requests: [], complaints: [] })
  expect(asked).toEqual(['/report.html'])

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await page.setViewportSize({ width: 680, height: 960 })
  expect(await page.locator('main > section:visible').count()).toBe(PAGES.length)
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.screenshot({ path: join(PICTURES, 'awkward-print.png'), fullPage: true })
  await page.pdf({ path: join(PICTURES, 'awkward.pdf'), preferCSSPageSize: true })
})
