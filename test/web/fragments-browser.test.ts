/** Parts of a page in a real browser: refused, slow and failed ones say so in their places, and nothing but our HTML is put into the page. */

import type { Page } from 'playwright-core'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { ToolkitError } from '../../src/core/errors.ts'
import type { AskExplorer, ExplorerReply } from '../../src/server/explorer/explorer.ts'
import { openWebFiles } from '../../src/server/explorer/pages/web-files.ts'
import type { ServerParts } from '../../src/server/http/server-parts.ts'
import { openFake, TOKEN } from '../server/http/open-fake.ts'
import { openBrowser } from '../support/browser.ts'

const table = (rows: readonly Record<string, unknown>[]): ExplorerReply => {
  const columns = Object.keys(rows[0] ?? {})
  return { kind: 'answer', snapshot: 1, columns, rows: rows.map((row) => columns.map((name) => row[name])) }
}
const COMPANY = [{ internal_id: 5, company_name: 'Firm' }]

const openAt = async (
  context: TestContext,
  askExplorer: AskExplorer,
  hash: string,
  layers: NonNullable<ServerParts['layers']> = [],
): Promise<Page> => {
  const browser = await openBrowser(context)
  const address = `${await openFake({ webFile: openWebFiles(), askExplorer, layers })}/`
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(`${address}#token=${TOKEN}`)
  await page.waitForSelector('nav')
  await page.evaluate(`location.hash = '#/${hash}'`)
  return page
}

const alerts = (page: Page): Promise<string[]> => page.locator('main [role=alert]').allTextContents()

test('a part that is refused, too slow or failed says so in its place, and the others are shown', async (context) => {
  const replies: Readonly<Record<string, () => ExplorerReply>> = {
    company: () => table(COMPANY),
    'has-figures': () => table([{ has_figures: true }]),
    figures: () => {
      throw new ToolkitError('QUERY_FAILED', 'Cannot answer: it took longer than 1 ms')
    },
    peers: () => ({ kind: 'forbidden' }),
    changes: () => {
      throw new Error('words of the data')
    },
    'company-findings': () => table([]),
    ownership: () => ({ kind: 'off' }),
  }
  const page = await openAt(context, async (name) => replies[name]?.() ?? table([]), 'company/5')
  await expect
    .poll(() => alerts(page), { timeout: 60_000 })
    .toEqual([
      '✖ Figures: This took too long. Try again, or ask the lake with “firmlake query”.',
      '✖ Peers: This is about the whole lake: it needs a token that may see everything.',
      '✖ Changes: The server answers 500.',
      '✖ Owners and holdings: The server has too little memory for the explorer: it needs a larger --memory.',
    ])
  expect(await page.locator('h1').textContent()).toBe('Firm')
  expect(await page.getByText('No rule on the data is broken').count()).toBe(1)
  expect(await page.locator('.skeleton').count()).toBe(0)
})

test('what is not our HTML is not put into the page', async (context) => {
  const other = '<img src=x><p id="other">not ours</p>'
  const page = await openAt(context, async () => table(COMPANY), 'company/5', [
    (app) =>
      app.addHook('onSend', async (request, reply, payload) => {
        if (request.routeOptions.url !== '/explorer/fragment/page') return payload
        reply.header('content-type', 'text/plain; charset=utf-8')
        return other
      }),
  ])
  await expect
    .poll(() => alerts(page), { timeout: 60_000 })
    .toEqual(['✖ The page: The server answers with something else than a part of this page.'])
  expect(await page.locator('#other, main img').count()).toBe(0)
})

test('coming back to a page one is where one was, and a link leads to the top', async (context) => {
  const rows = Array.from({ length: 90 }, (_, at) => ({
    kind: 'figures',
    loaded_at: '2026-01-02',
    fiscal_year: 1900 + at,
    new_value: '1',
  }))
  const page = await openAt(
    context,
    async (name) =>
      table(
        name === 'company'
          ? COMPANY
          : name === 'changes'
            ? rows
            : [{ has_figures: false }].slice(name === 'has-figures' ? 0 : 1),
      ),
    'company/5',
  )
  const settled = (): Promise<unknown> => page.waitForSelector('.page:not(:has([aria-busy], .skeleton))')
  const top = (): Promise<number> => page.evaluate('scrollY')
  await page.setViewportSize({ width: 800, height: 300 })
  await settled()
  await page.evaluate('scrollTo(0, 400)')
  await page.evaluate(`location.hash = '#/company/7'`)
  await page.waitForFunction('document.querySelector("h1") === document.activeElement')
  await settled()
  expect(await top()).toBe(0)
  await page.goBack()
  await expect.poll(top, { timeout: 60_000 }).toBe(400)
  await page.evaluate(`location.hash = '#/company/7'`)
  await expect.poll(top, { timeout: 60_000 }).toBe(0)
})

test('leaving a page cancels its question, and the next page is shown', async (context) => {
  const stopped: string[] = []
  const page = await openAt(
    context,
    (name, _parameters, _caller, signal) => {
      if (name !== 'figures')
        return Promise.resolve(
          name === 'has-figures' ? table([{ has_figures: true }]) : table(name === 'company' ? COMPANY : []),
        )
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped.push(name)
          reject(signal.reason)
        }),
      )
    },
    'company/5',
  )
  await page.waitForSelector('[data-part="figures"][aria-busy]')
  await page.evaluate(`location.hash = '#/company/7'`)
  await expect.poll(() => stopped, { timeout: 60_000 }).toEqual(['figures'])
  await page.waitForSelector('[data-part="figures"][aria-busy]')
  await page.evaluate(`location.hash = '#/quality'`)
  await page.getByRole('heading', { level: 1, name: 'Quality' }).waitFor()
  await expect.poll(() => stopped, { timeout: 60_000 }).toEqual(['figures', 'figures'])
  expect(await alerts(page)).toEqual([])
})
