/** The code that is committed is what its source says. */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PROJECT = join(import.meta.dirname, '../..')

test('record-figures.wasm is what src/load/wasm compiles to', async () => {
  const out = join(await temporaryFolder(), 'compiled.wasm')
  await promisify(execFile)(process.execPath, [join(PROJECT, '.ci/build-wasm.mjs'), '--out', out])
  expect(await readFile(out)).toEqual(await readFile(join(PROJECT, 'src/load/record-figures.wasm')))
})
