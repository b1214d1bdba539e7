import { readFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { configSchema } from '../../src/config/read-settings.ts'
import { parseToml, type TomlNode } from '../../src/config/toml-tree.ts'

const plain = (node: TomlNode): unknown => {
  if (node.kind === 'value') return node.value
  if (node.kind === 'list') return node.items.map(plain)
  return Object.fromEntries([...node.entries].map(([name, entry]) => [name, plain(entry.node)]))
}

const isValid = new Ajv({ allowUnionTypes: true }).compile(configSchema())
const check = (text: string): boolean => isValid(plain(parseToml(text, 'firmlake.toml')))

test('the JSON Schema takes the example, and nothing with a wrong key or type', async () => {
  const example = await readFile(new URL('../../examples/firmlake.toml', import.meta.url), 'utf8')
  expect(check(example)).toBe(true)
  expect(check('')).toBe(true)
  expect(check('lke = "a"')).toBe(false)
  expect(check('[service]\ntoken = "x"')).toBe(false)
  expect(check('[gc]\nkeep = 0')).toBe(false)
  expect(check('[[pull]]\nname = "a"')).toBe(false)
})
