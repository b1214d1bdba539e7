import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { AREAS } from '../../src/contract/authorization.ts'
import { OPERATIONS } from '../../src/contract/requests.ts'
import { readTokens } from '../../src/server/access/choose-tokens.ts'
import { readFaults } from '../../src/server/faults/read-faults.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const document = await readFile(fileURLToPath(new URL('../../docs/serving.md', import.meta.url)), 'utf8')

/** A file with the JSON example that has this field. */
const exampleWith = async (field: string): Promise<string> => {
  const examples = [...document.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  const path = join(await temporaryFolder(), 'example.json')
  await writeFile(path, examples.find((text) => text.includes(`"${field}"`)) ?? '')
  return path
}

test('the examples of docs/serving.md are read', async () => {
  expect(await readTokens(await exampleWith('tokens'))).toHaveLength(2)
  expect(await readFaults(await exampleWith('faults'))).toHaveLength(3)
})

test('docs/serving.md names every operation and area', () => {
  for (const { path } of Object.values(OPERATIONS)) expect(document).toContain(path)
  for (const name of AREAS) expect(document).toContain(`\`${name}\``)
})
