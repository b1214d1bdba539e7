/** gc keeps what other engines read whole: a published table lets go of a file before the file goes. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE_COMPANIES } from './run-cli.ts'

interface Action {
  readonly add?: { readonly path: string }
  readonly remove?: { readonly path: string }
}

/** The files that a Delta table shows by its log, as paths below the table. */
const shownFiles = async (table: string): Promise<readonly string[]> => {
  const log = join(table, '_delta_log')
  const names = (await readdir(log)).filter((name) => /^\d{20}\.json$/.test(name)).sort()
  const shown = new Set<string>()
  for (const name of names)
    for (const line of (await readFile(join(log, name), 'utf8')).trim().split('\n')) {
      const { add, remove }: Action = JSON.parse(line)
      if (remove) shown.delete(decodeURIComponent(remove.path))
      if (add) shown.add(decodeURIComponent(add.path))
    }
  return [...shown]
}

test('gc --keep brings a published table in step before it removes what a compaction replaced', {
  timeout: 120_000,
}, async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake])
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake, '--again'])
  await runCommandJson(['publish', 'delta', '--lake', lake])
  const table = join(lake, 'financials')
  const before = await shownFiles(table)
  expect(before).toHaveLength(2)
  await runCommandJson(['compact', '--lake', lake])
  const planned = await runCommand(['gc', '--lake', lake, '--keep', '1', '--dry-run'])
  expect(planned.code).toBe(0)
  expect(await shownFiles(table)).toEqual(before)
  await runCommandJson(['gc', '--lake', lake, '--keep', '1'])
  const after = await shownFiles(table)
  expect(after).toHaveLength(1)
  expect(after.map((path) => existsSync(join(table, path)))).toEqual([true])
  expect(before.map((path) => existsSync(join(table, path)))).toEqual([false, false])
})

test('gc --keep puts no table into a catalog that does not have those of the lake', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake])
  const asked: string[] = []
  const catalog = createServer(({ method, url = '' }, answer) => {
    asked.push(`${method} ${url}`)
    const body = url.endsWith('/config')
      ? { defaults: {}, overrides: {} }
      : { metadata: { location: 'file:///another/lake/companies' } }
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  catalog.listen(0, '127.0.0.1')
  await once(catalog, 'listening')
  onTestFinished(() => {
    catalog.close()
  })
  const address = catalog.address()
  const env = { FIRMLAKE_CATALOG: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` }
  await runCommandJson(['gc', '--lake', lake, '--keep', '1'], { env })
  expect(asked).toContain('GET /v1/namespaces/firmlake/tables/companies')
  expect(asked.filter((one) => !one.startsWith('GET '))).toEqual([])
})
