/** The explorer in a real browser: sign-in, every page, on the sample, on awkward data and on an empty lake. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { query } from '../../src/jobs/query.ts'
import { type ServedLake, serve } from '../../src/jobs/serve.ts'
import { loadSampleLake } from '../analysis/sample-lake.ts'
import { loadEmptyLake } from '../report/lakes.ts'
import {
  ALPHA,
  BACKWARDS,
  BETA,
  GAMMA,
  IMAGE,
  LONG,
  loadExplorerLake,
  SECRETS,
} from '../server/explorer/explorer-lake.ts'
import { axeFindings, openBrowser, watchPage } from '../support/browser.ts'

/** Screenshots to look at; not kept in the repository. */
const PICTURES = fileURLToPath(new URL('../../test-artefacts/explorer/', import.meta.url))
const TOKENS = {
  everything: 'token-for-everything',
  sweden: 'token-for-sweden',
} as const
/** The list with two facets, from its second page on. */
const FILTERED = '?country=SE&country=NO&listed=&order=name&from=20'
const REPORT_PAGES = ['loads', 'business', 'coverage', 'drift', 'quarantine', 'changes', 'quality']

let folder = ''
const servers: ServedLake[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  await mkdir(PICTURES, { recursive: true })
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()))
  await rm(folder, { recursive: true, force: true })
})

const LAKES = {
  sample: async (lake: string) => void (await loadSampleLake(lake)),
  awkward: loadExplorerLake,
  empty: (lake: string) => loadEmptyLake(lake, folder),
} as const

const addresses = new Map<keyof typeof LAKES, string>()

/** Serves a lake, which is made the first time. @returns its address */
const served = async (name: keyof typeof LAKES): Promise<string> => {
  const address = addresses.get(name) ?? (await serveAnew(name))
  addresses.set(name, address)
  return address
}

const serveAnew = async (name: keyof typeof LAKES): Promise<string> => {
  const lake = join(folder, name)
  await LAKES[name](lake)
  const tokens = join(folder, 'tokens.json')
  const sweden = { SE: ['Owner', 'Hidden Person Access'] }
  await writeFile(
    tokens,
    JSON.stringify({
      tokens: [
        { name: 'everything', token: TOKENS.everything, everything: true },
        { name: 'sweden', token: TOKENS.sweden, countries: sweden },
      ],
    }),
  )
  // A machine that has other things to do answers late.
  const server = await serve({ lake, port: 0, tokens, queryTimeoutMs: 120_000 })
  servers.push(server)
  return `${server.url}/`
}

const PATIENTLY = { interval: 20, timeout: 60_000 }

/** Polls from outside: the page's policy lets nobody run a text as code in it. */
const until = (page: Page, expression: string): Promise<unknown> =>
  expect.poll(() => page.evaluate(expression), PATIENTLY).toBe(true)

/** Waits until nothing of the page is on its way. */
const settled = (page: Page): Promise<unknown> =>
  until(page, `document.querySelector('main h1') !== null && document.querySelector('[aria-busy]') === null`)

const goTo = async (page: Page, hash: string): Promise<void> => {
  await page.evaluate(`location.hash = '${hash}'`)
  await page.waitForTimeout(30)
  await settled(page)
}

const open = async (
  browser: Browser,
  address: string,
  token: string,
  options: Parameters<Browser['newPage']>[0] = {},
) => {
  const page = await browser.newPage(options)
  onTestFinished(() => page.close())
  const watched = watchPage(page, address)
  await page.goto(address)
  await page.keyboard.type(token)
  await page.keyboard.press('Enter')
  await page.waitForSelector('nav')
  await settled(page)
  expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual(['firmlake-session'])
  return { page, watched }
}

const fits = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= innerWidth')

const outside = (requests: readonly string[], address: string): readonly string[] =>
  requests.filter((url) => !url.startsWith(address) && !url.startsWith('data:') && !url.startsWith('blob:'))

/** Keeps a picture to look at. */
const picture = (page: Page, name: string): Promise<unknown> =>
  page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })

const axe = async (page: Page, what: string): Promise<void> => {
  // Of many rows the first say what all would.
  const exclude = ['tbody tr:nth-child(n+4)', '.graph > :nth-child(n+40)']
  expect([what, await axeFindings(page, { include: ['body'], exclude })]).toEqual([what, []])
}

/** Opens what is folded in a company's page. */
const unfold = (page: Page): Promise<unknown> =>
  page.evaluate(
    `document.querySelectorAll('.card details, .head details').forEach((one) => { one.open = true })`,
  )

test('on the sample every page is quiet, accessible and fits, light and dark', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('sample')
  const [first] = await query({
    lake: join(folder, 'sample'),
    sql: `SELECT r.internal_id FROM restatements AS r JOIN companies USING (internal_id)
WHERE internal_id IN (SELECT owned_id FROM owners_current) ORDER BY 1 LIMIT 1`,
  })
  const others = await query({
    lake: join(folder, 'sample'),
    sql: `SELECT internal_id FROM latest_figures WHERE line_item = 'EBIT' ORDER BY value DESC LIMIT 5`,
  })
  const beside = [
    `compare/${[first, ...others].map((row) => row?.internal_id).join(',')}`,
    `proof/${first?.internal_id}/Consolidated/ProfitAndLoss/NetSales/2024`,
  ]
  const pages = ['', `company/${first?.internal_id}`, FILTERED, ...beside, ...REPORT_PAGES]
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    const viewport = { width, height: 900 }
    const { page, watched } = await open(browser, address, TOKENS.everything, { colorScheme, viewport })
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      colorScheme === 'light' ? 'rgb(251, 251, 249)' : 'rgb(15, 18, 20)',
    )
    for (const hash of colorScheme === 'light' ? pages : pages.slice(0, 7)) {
      await goTo(page, `#/${hash}`)
      expect([hash, await page.locator('main [role=alert]').allTextContents()]).toEqual([hash, []])
      await unfold(page)
      if (colorScheme === 'light' || !REPORT_PAGES.includes(hash)) await axe(page, hash)
      expect([hash, width, await fits(page)]).toEqual([hash, width, true])
      const name = hash === FILTERED ? 'filtered' : hash.replace(/\/.*/, '') || 'home'
      await picture(page, `sample-${name}-${colorScheme}`)
    }
    await goTo(page, `#/company/${first?.internal_id}`)
    await unfold(page)
    for (const wide of [360, 768, 1600]) {
      await page.setViewportSize({ width: wide, height: 900 })
      expect([wide, await fits(page)]).toEqual([wide, true])
    }
    expect(watched.complaints).toEqual([])
    expect(outside(watched.requests, address)).toEqual([])
    if (colorScheme === 'dark') continue
    await page.setViewportSize({ width: 680, height: 960 })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
    expect([await page.locator('nav').isVisible(), await fits(page)]).toEqual([false, true])
    await picture(page, 'sample-company-print')
  }
})

test('hostile names are text, protected persons are absent for every token, and a table is saved as CSV', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('awkward')
  for (const token of Object.values(TOKENS)) {
    const { page, watched } = await open(browser, address, token)
    const names = new Map([
      [ALPHA, 'Alpha'],
      [BETA, IMAGE],
      [GAMMA, BACKWARDS],
      [105, LONG],
    ])
    for (const [id, name] of token === TOKENS.everything ? names : [...names].slice(0, 2)) {
      await goTo(page, `#/company/${id}`)
      expect(await page.locator('h1').textContent()).toBe(name)
      expect(await page.title()).toContain(name.slice(0, 5))
      expect(await page.locator('img, script:not([src]), [onerror]').count()).toBe(0)
      expect([id, await fits(page)]).toEqual([id, true])
      const all = await page.content()
      for (const secret of SECRETS) expect(all).not.toContain(secret)
    }
    await page.setViewportSize({ width: 360, height: 800 })
    await goTo(page, '#/')
    expect(await page.locator('.companies tbody th a').allTextContents()).toEqual(
      expect.arrayContaining(['Alpha', IMAGE, BACKWARDS]),
    )
    expect(await page.locator('img, script:not([src]), [onerror]').count()).toBe(0)
    expect(['home', await fits(page)]).toEqual(['home', true])
    const home = await page.content()
    for (const secret of SECRETS) expect(home).not.toContain(secret)
    await axe(page, 'awkward home')
    await picture(page, `awkward-home-${token}`)
    await page.setViewportSize({ width: 1280, height: 800 })
    await goTo(page, `#/company/${ALPHA}`)
    expect(await page.locator('.graph text.protected').allTextContents()).toEqual(['protected', 'protected'])
    expect(await page.locator('.graph .stake', { hasText: '↺' }).count()).toBe(3)
    expect(await page.locator('.graph .edge.dash').count()).toBe(2)
    expect(await page.locator('td.re').allTextContents()).toEqual([
      expect.stringMatching(/^12,000was 10,000until \d+\s\w+\s\d{4}$/),
    ])
    // In the trees of owners and of ultimate owners.
    expect(await page.locator('.tree .prot').allTextContents()).toEqual(Array(4).fill('protected person'))
    expect(await page.locator('.tree .pers', { hasText: '↺' }).count()).toBe(2)
    await unfold(page)
    await axe(page, 'awkward company')
    await picture(page, `awkward-company-${token}`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV of “Holdings of Alpha”' }).click(),
    ])
    const csv = await readFile(await download.path(), 'utf8')
    expect(csv).toMatch(/^direction,level,owner,/)
    expect(csv).toContain('"<img src=x onerror=""document.title=1"">"')
    for (const secret of SECRETS) expect(csv).not.toContain(secret)
    if (token === TOKENS.sweden) {
      await goTo(page, '#/loads')
      expect(await page.getByText('it needs a token that may see everything').count()).toBe(1)
      await goTo(page, '#/')
      expect(await page.locator('#list').textContent()).toBe('4 companies')
      expect(await page.locator('.facet a .num').first().textContent()).toBe('4')
      expect(await page.getByText('Newest load').count()).toBe(0)
    }
    expect(watched.complaints).toEqual([])
    expect(outside(watched.requests, address)).toEqual([])
  }
})

test('numbers of the charts are those of the tables and of query, and are saved as they are', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('sample')
  const lake = join(folder, 'sample')
  const sales = `line_item = 'NetSales' AND consolidation = 'Consolidated'`
  const [company] = await query({
    lake,
    sql: `SELECT internal_id AS id FROM financials WHERE ${sales} GROUP BY 1 HAVING min(value) > 1e7 AND count(*) BETWEEN 5 AND 15 ORDER BY count(*) DESC, 1 LIMIT 1`,
  })
  const figures = await query({
    lake,
    sql: `SELECT fiscal_year AS year, value FROM financials WHERE ${sales} AND internal_id = ${company?.id} ORDER BY 1 DESC`,
  })
  expect(figures.length).toBeGreaterThan(4)
  const { page } = await open(browser, address, TOKENS.everything)
  await goTo(page, `#/company/${company?.id}`)
  const strings = (selector: string): Promise<string[]> => page.locator(selector).allTextContents()
  const number = (text: string): number => Number(text.replaceAll(',', '').replace('−', '-'))
  const bars = (await strings('.stat:first-child rect title')).map((text) => text.split(': '))
  expect(bars.map(([year, value]) => ({ year: Number(year), value: number(value ?? '') })).reverse()).toEqual(
    figures.map(({ year, value }) => ({ year, value: Math.round(Number(value)) })),
  )
  const [head = '', ...years] = await page
    .locator('#statements .stmt')
    .first()
    .locator('thead th')
    .allTextContents()
  const factor = head.startsWith('million') ? 1e6 : 1e3
  const table = page
    .locator('#statements .stmt')
    .first()
    .locator('tbody tr', { hasText: /^Net sales/ })
  const cells = (await table.locator('td').allTextContents()).map((text, at) => ({
    year: Number(years[at]),
    text,
  }))
  expect(
    cells
      .filter(({ text }) => !text.startsWith('–'))
      .map(({ year, text }) => ({ year, value: number(text) })),
  ).toEqual(figures.map(({ year, value }) => ({ year, value: Math.round(Number(value) / factor) })))
  const [workbook] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Excel' }).click(),
  ])
  expect(workbook.suggestedFilename()).toBe(
    `${(await page.locator('h1').textContent())?.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.xlsx`,
  )
  expect((await readFile(await workbook.path())).subarray(0, 2).toString()).toBe('PK')
})

test('by keyboard alone one signs in, searches, opens a company and an owner, reloads, and signs out', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('awkward')
  const { page, watched } = await open(browser, address, TOKENS.everything)
  await page.locator('#search').focus()
  await page.keyboard.type('alph')
  await page.waitForSelector('.found a')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.graph')
  await settled(page)
  expect(await page.locator('h1').textContent()).toBe('Alpha')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
  const owner = page.locator('.graph a').first()
  await owner.focus()
  await page.keyboard.press('Enter')
  await until(page, `!['Alpha', undefined].includes(document.querySelector('h1')?.textContent)`)
  expect(await page.evaluate('location.hash')).toMatch(/^#\/company\/10[234]$/)
  expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([
    0,
    1,
    '',
  ])
  const session = await page.evaluate<string>(`sessionStorage.getItem('firmlake-session')`)
  expect(session).not.toContain(TOKENS.everything)
  const ask = (bearer: string): Promise<number> =>
    fetch(`${address}explorer/fragment/lake`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}` },
    }).then(({ status }) => status)
  expect(await ask(session)).toBe(200)
  await settled(page)
  const before = await page.locator('h1').textContent()
  await page.reload()
  await page.waitForSelector('nav')
  await settled(page)
  expect(await page.locator('h1').textContent()).toBe(before)
  await page.getByRole('button', { name: 'Sign out' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Signed out.').waitFor()
  expect([await page.locator('nav').count(), await page.evaluate('sessionStorage.length')]).toEqual([0, 0])
  await expect.poll(() => ask(session)).toBe(401)
  await page.reload()
  await page.waitForSelector('#token')
  await axe(page, 'sign-in')
  await picture(page, 'sign-in')
  expect(watched.complaints).toEqual([])
  await page.keyboard.type('wrong-token')
  await page.keyboard.press('Enter')
  await page.getByText('Not a token of this server.').waitFor()
  await axe(page, 'refused sign-in')
})

test('a session that the server does not know any more is a sign-in, and says why', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('awkward')
  const { page } = await open(browser, address, TOKENS.everything)
  await page.evaluate(`sessionStorage.setItem('firmlake-session', 'no.session')`)
  await page.reload()
  await page.getByText('The session has ended. Sign in again.').waitFor()
  expect(await page.evaluate('sessionStorage.length')).toBe(0)
})

test('a token in the address signs in, and neither the address nor the history keeps it', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('awkward')
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(`${address}#token=${TOKENS.everything}`)
  await page.waitForSelector('nav')
  await settled(page)
  expect(page.url()).toBe(address)
  await page.goto(`${address}#/quality`)
  await page.goBack()
  expect(page.url()).toBe(address)
  const other = await browser.newPage()
  onTestFinished(() => other.close())
  await other.goto(`${address}#token=not-one-of-them`)
  await other.getByText('Not a token of this server.').waitFor()
  expect(other.url()).toBe(address)
})

test('by keyboard one browses: every state is a link, the focus stays, the back button goes back, the list is saved', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('sample')
  const lake = join(folder, 'sample')
  const countOf = async (where: string): Promise<string> => {
    const [row] = await query({ lake, sql: `SELECT count(*) AS n FROM companies WHERE ${where}` })
    return `${row?.n} companies`
  }
  const title = (shown: Page): Promise<string | null> => shown.locator('#list').textContent()
  const { page, watched } = await open(browser, address, TOKENS.everything)
  expect(await title(page)).toBe(await countOf('true'))
  const press = async (key: string): Promise<void> => {
    const link = page.locator(`[data-key="${key}"]`)
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForTimeout(30)
    await settled(page)
  }
  await press('country SE')
  expect(await page.evaluate('location.hash')).toBe('#/?country=SE')
  expect(await title(page)).toBe(await countOf(`country_code = 'SE'`))
  expect(await page.evaluate('document.activeElement.dataset.key')).toBe('country SE')
  expect(await page.locator('[data-key="country SE"]').getAttribute('aria-current')).toBe('true')
  await press('status Active')
  const both = await countOf(`country_code = 'SE' AND operational_status_name = 'Active'`)
  expect(await title(page)).toBe(both)
  await press('sort name')
  expect(await page.locator('[aria-sort]').getAttribute('aria-sort')).toBe('ascending')
  const [first] = await query({
    lake,
    sql: `SELECT company_name FROM companies WHERE country_code = 'SE' AND operational_status_name = 'Active' ORDER BY 1 LIMIT 1`,
  })
  expect(await page.locator('.companies tbody th > a:not(.pick)').first().textContent()).toBe(
    first?.company_name,
  )
  // The facets keep the order that was chosen after them.
  expect(await page.locator('[data-key="status Active"]').getAttribute('href')).toBe(
    '#/?country=SE&order=name',
  )
  await press('page')
  expect(await page.evaluate('document.activeElement.id')).toBe('list')
  expect(await page.evaluate('location.hash')).toContain('from=20')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  const csv = await readFile(await download.path(), 'utf8')
  expect(csv).toMatch(/^internal_id,company_name,/)
  expect(csv.match(/^\d+,/gm)?.length).toBe(Number.parseInt(both, 10))
  await page.goBack()
  await page.goBack()
  await page.goBack()
  await expect.poll(() => title(page), PATIENTLY).toBe(await countOf(`country_code = 'SE'`))
  await settled(page)
  await press('chip country SE')
  expect(await page.evaluate('document.activeElement.id')).toBe('list')
  expect(await title(page)).toBe(await countOf('true'))
  await page.locator('#search').focus()
  await page.keyboard.type('holding')
  await page.keyboard.press('Enter')
  await until(page, `location.hash === '#/?text=holding'`)
  // The list is asked for in a later task than that in which the hash changes.
  await expect.poll(() => title(page), PATIENTLY).toBe(await countOf(`company_name ILIKE '%holding%'`))
  await settled(page)
  expect(watched.complaints).toEqual([])
  expect(outside(watched.requests, address)).toEqual([])
})

test('companies are taken up in the list and compared; a number opens its proof, by keyboard too', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('sample')
  const { page, watched } = await open(browser, address, TOKENS.everything)
  const names = await page.locator('.companies tbody th > a:not(.pick)').allTextContents()
  for (const at of [0, 2]) {
    await page.locator('.pick').nth(at).press('Enter')
    await page.waitForTimeout(30)
    await settled(page)
    expect(await page.locator('.pick').nth(at).getAttribute('aria-current')).toBe('true')
  }
  // The mark keeps the focus, and the address the companies.
  expect(await page.evaluate('document.activeElement.className')).toBe('pick')
  await axe(page, 'taken up')
  await page.getByRole('link', { name: 'Compare 2 companies' }).click()
  await page.waitForSelector('.page.compare')
  await settled(page)
  expect(await page.locator('.compare thead th > a').allTextContents()).toEqual([names[0], names[2]])
  await page.locator('.compare .drop').first().click()
  await until(page, `document.querySelectorAll('.compare .drop').length === 1`)
  await page.getByRole('link', { name: 'Add companies' }).click()
  await page.waitForSelector('.companies')
  await settled(page)
  expect(await page.locator('.pick[aria-current]').count()).toBe(1)

  const [restated] = await query({
    lake: join(folder, 'sample'),
    sql: `SELECT internal_id FROM restatements WHERE consolidation = 'Consolidated' AND fiscal_year = 2024 LIMIT 1`,
  })
  await goTo(page, `#/company/${restated?.internal_id}`)
  const [newest, before] = [page.locator('.re a[data-proof]').first(), page.locator('a[data-proof]').nth(1)]
  await newest.focus()
  await page.keyboard.press('ArrowRight')
  expect(await before.evaluate('document.activeElement.textContent')).toBe(await before.textContent())
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.locator('.proof-row .proof.earlier').waitFor()
  await settled(page)
  expect(await page.locator('.proof-row .proof').count()).toBe(2)
  expect(await newest.getAttribute('aria-expanded')).toBe('true')
  await axe(page, 'proof')
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await fits(page)).toBe(true)
  await picture(page, 'proof-360')
  await newest.press('Enter')
  expect([await page.locator('.proof-row').count(), await page.evaluate('location.hash')]).toEqual([
    0,
    `#/company/${restated?.internal_id}`,
  ])
  expect(watched.complaints).toEqual([])
})

test('an empty lake has its pages too', async (context) => {
  const browser = await openBrowser(context)
  const address = await served('empty')
  const { page, watched } = await open(browser, address, TOKENS.everything)
  for (const hash of ['', 'company/1', ...REPORT_PAGES]) {
    await goTo(page, `#/${hash}`)
    expect([hash, await page.locator('main [role=alert]').allTextContents()]).toEqual([hash, []])
    if (hash === '' || hash === 'quality') await axe(page, `empty ${hash}`)
  }
  await picture(page, 'empty-quality')
  await goTo(page, '#/')
  expect(await page.locator('h1').textContent()).toBe('Nothing is loaded yet')
  expect(await page.locator('.steps pre').first().textContent()).toMatch(/^firmlake convert /)
  await picture(page, 'empty-home')
  expect(watched.complaints).toEqual([])
})
