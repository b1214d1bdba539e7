/** The examples of the library's docstrings and of docs/library.md: they run, print what they say, and have right types. */

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportedFunctions } from '../../docs/api-text.ts'
import { runTool } from '../support/needs.ts'
import { examplesIn, PROJECT } from '../support/page.ts'
import { expectedOf, runExamples } from '../support/run-examples.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const FUNCTIONS = exportedFunctions()
const OWN_SINK = 'export const jsonFolder'
/** In test/sink/postgres-example.test.ts: it needs a server. */
const NEEDS_POSTGRES = 'postgres'

const PAGE = examplesIn('docs/library.md', 'ts').map((code, at) => ({ name: `library.md ${at + 1}`, code }))
const EXAMPLES = [
  ...FUNCTIONS.map(({ name, example }) => ({ name, code: example ?? '' })).filter(
    ({ name, code }) => name !== NEEDS_POSTGRES && code !== '',
  ),
  ...PAGE.filter(({ code }) => !code.includes(OWN_SINK)),
]

/** Calls that are a step of another one's example, or of a program around it. */
const SHOWN_ELSEWHERE = [
  'checkTargets',
  'readFormats',
  'parseSearch',
  'readToken',
  'readSnapshot',
  'withDeliveredRuns',
]

test('every function of the library has an example', () => {
  const without = FUNCTIONS.filter(({ example }) => example === undefined).map(({ name }) => name)
  expect(without.sort()).toEqual([...SHOWN_ELSEWHERE].sort())
})

test('the first example of docs/library.md has at most ten lines', () => {
  const lines = (PAGE[0]?.code ?? '').split('\n').filter((line) => line.trim() !== '')
  expect(lines.length).toBeLessThanOrEqual(10)
})

test('every example runs and prints what stands behind it, in a process that ends by itself', async () => {
  const ran = await runExamples(await temporaryFolder(), EXAMPLES, {
    "'https://service.example.com'": "process.env.SERVICE_OF_EXAMPLES ?? ''",
  })
  expect(ran).toEqual(EXAMPLES.map((one) => ({ name: one.name, printed: expect.anything() })))
  expect(ran.map(({ name, printed }) => [name, printed.join(', ')])).toEqual(
    EXAMPLES.map((one) => [one.name, expectedOf(one)]),
  )
})

test('every example has the types that it needs', async () => {
  const folder = await temporaryFolder()
  const all = [...EXAMPLES, ...PAGE.filter(({ code }) => code.includes(OWN_SINK))]
  for (const [at, { code }] of all.entries())
    await writeFile(join(folder, `example-${at}.ts`), `${code}\nexport {}\n`)
  const config = {
    extends: join(PROJECT, 'tsconfig.json'),
    compilerOptions: {
      paths: { firmlake: [join(PROJECT, 'src/index.ts')] },
      typeRoots: [join(PROJECT, 'node_modules/@types')],
    },
    include: ['*.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), readFileSync(join(PROJECT, 'package.json')))
  const found = runTool(process.execPath, join(PROJECT, 'node_modules/typescript/bin/tsc'), '-p', folder)
  expect(found.stdout).toBe('')
  expect(found.status).toBe(0)
})
