/** The files of the explorer's page: small, of this project alone, made once. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openWebFiles } from '../../src/server/explorer/pages/web-files.ts'

test('the page, its script and its style are below 20 kB together, gzipped', async () => {
  const files = openWebFiles()
  const bodies = await Promise.all(
    (['index.html', 'app.js', 'app.css'] as const).map(async (name) => (await files(name)).body),
  )
  expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThan(20_000)
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

test('the style of the explorer begins with the sheet of the report, which has no request and no colour by hand outside of it', async () => {
  const sheet = await readFile(fileURLToPath(new URL('../../src/report/sheet.css', import.meta.url)), 'utf8')
  const style = String((await openWebFiles()('app.css')).body)
  expect(style.startsWith(sheet)).toBe(true)
  expect(style).not.toMatch(/url\(|@import|@font-face/)
  // Light and dark have the same names; the other rules use them.
  const [light = '', dark = ''] = [...sheet.matchAll(/:root \{([^}]*)\}/g)].map(([, inner]) => inner)
  const colours = (text: string): readonly string[] =>
    [...text.matchAll(/(--[\w-]+): #/g)].map(([, name = '']) => name)
  expect(colours(dark)).toEqual(colours(light))
  expect(colours(light).length).toBeGreaterThan(20)
})
