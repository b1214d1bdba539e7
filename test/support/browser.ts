/** Debian's browser, for pages; a test without it is skipped and says so. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { onTestFinished, type TestContext } from 'vitest'
import { needs } from './needs.ts'

const EXECUTABLE = process.env.FIRMLAKE_TEST_CHROMIUM ?? '/usr/bin/chromium'

/** Closed at the end of the running test. */
export const openBrowser = async (context: TestContext): Promise<Browser> => {
  needs(context, 'Chromium', existsSync(EXECUTABLE) ? undefined : `there is no ${EXECUTABLE}`)
  // In a container the sandbox of the browser has no rights of its own, and it opens only what the test wrote.
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  return browser
}

/** What a page did that a page without requests and errors does not. */
export interface Watched {
  /** Addresses, the page itself left out. */
  readonly requests: readonly string[]
  readonly complaints: readonly string[]
}

/** To be called before the page is opened. */
export const watchPage = (page: Page, own: string): Watched => {
  const [requests, complaints]: [string[], string[]] = [[], []]
  page.on('request', (request) => {
    if (request.url() !== own) requests.push(request.url())
  })
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  return { requests, complaints }
}

let axeSource: string | undefined

/** What axe-core finds in a part of a page as it is shown now: the rule and the first places. */
export const axeFindings = async (
  page: Page,
  within: { readonly include: readonly string[]; readonly exclude?: readonly string[] },
): Promise<readonly string[]> => {
  axeSource ??= await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string }[] }[]
  }>(`axe.run(${JSON.stringify(within)}, { resultTypes: ['violations'] })`)
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ html }) => html.slice(0, 200))
        .join(' | ')}`,
  )
}
