/**
 * Compiles `src/load/wasm/` to `src/load/record-figures.wasm`, which is committed: a checkout and the package run it as it is. A test
 * compiles it again and compares. Usage: `node .ci/build-wasm.mjs [--out FILE]`
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import asc from 'assemblyscript/asc'

const room = fileURLToPath(new URL('../src/load', import.meta.url))
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(room, 'record-figures.wasm') } },
})
const folder = mkdtempSync(join(tmpdir(), 'firmlake-wasm-'))
try {
  const compiled = join(folder, 'record-figures.wasm')
  const settings = ['--outFile', compiled, '-O3', '--runtime', 'stub', '--noAssert']
  const { error, stderr } = await asc.main([
    'record-figures.ts',
    '--baseDir',
    join(room, 'wasm'),
    ...settings,
  ])
  if (error) throw new Error(`Cannot compile src/load/wasm: ${error.message}\n${stderr}`)
  writeFileSync(values.out, readFileSync(compiled))
} finally {
  rmSync(folder, { recursive: true })
}
