/** The files of the explorer's page: small, of this project alone, made once. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { INKS } from '../../src/report/colours.ts'
import { openWebFiles } from '../../src/server/explorer/web-files.ts'

test('the page, its script and its style are below 400 kB together, gzipped', async () => {
  const files = openWebFiles()
  const bodies = await Promise.all(
    (['index.html', 'app.js', 'app.css'] as const).map(async (name) => (await files(name)).body),
  )
  expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThan(400_000)
  const [page = '', script = ''] = bodies.map(String)
  // No address but those of name spaces and licences, no way to run a text as code but those that a test of a library names.
  expect(page).not.toMatch(/https?:|<script>|style=/)
  expect(script).not.toMatch(/\beval\(|new Function\(|from ?"node:/)
})

test('a script is made once: the next server takes it from the cache', async () => {
  const first = await openWebFiles()('app.js')
  const started = performance.now()
  const second = await openWebFiles()('app.js')
  expect(second.etag).toBe(first.etag)
  expect(performance.now() - started).toBeLessThan(2000)
})

test('the style has the colours of the report, light and dark, and its charts follow them', async () => {
  const style = await readFile(fileURLToPath(new URL('../../src/web/app.css', import.meta.url)), 'utf8')
  for (const [name, both] of Object.entries(INKS))
    expect(
      [...style.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, 'g'))].map(([, colour]) => colour),
    ).toEqual([...both])
  expect(style).toContain(`[fill="${INKS.ink[0]}"]`)
  expect(style).toContain(`[fill="${INKS.soft[0]}"]`)
  expect(style).toContain(`[stroke="${INKS.line[0]}"]`)
})
