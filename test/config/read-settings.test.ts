import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readSettings } from '../../src/config/read-settings.ts'

const FOLDER = '/data/firms'
const read = (text: string) => readSettings(text, 'firmlake.toml', FOLDER)

/** The faults of a file, a line each. */
const faults = (text: string): readonly string[] => {
  try {
    read(text)
    return []
  } catch (error) {
    return String((error as Error).message)
      .replace('Cannot use "firmlake.toml": ', '')
      .split('\n')
  }
}

test('the example is read: paths from its folder, times in milliseconds, shares, lists', async () => {
  const text = await readFile(new URL('../../examples/firmlake.toml', import.meta.url), 'utf8')
  const { settings, found } = read(text)
  expect(settings.lake).toBe('/data/firms/lake')
  expect(settings.service).toMatchObject({ token_env: 'FIRMLAKE_TOKEN', max_wait: 900_000 })
  expect(settings.targets?.sinks).toEqual(['csv:/data/firms/out', '/data/firms/firms.duckdb'])
  expect(settings.pull?.map(({ name }) => name)).toEqual(['nordic-companies', 'nordic-relations'])
  expect(settings.pull?.[0]?.search).toEqual({ CountryCode: ['SE', 'NO'] })
  expect(settings.files?.[0]?.from).toEqual(['/data/firms/batches/*.br'])
  expect(settings.check).toMatchObject({ max_age: 26 * 3_600_000, max_fall: 0.1, new_drift: false })
  expect(found.find(({ key }) => key === 'service.url')).toMatchObject({ line: 8, section: 'service' })
})

test('the example has every section that there is', async () => {
  const { DEFINITION } = await import('../../src/config/definition.ts')
  const text = await readFile(new URL('../../examples/firmlake.toml', import.meta.url), 'utf8')
  const shown = Object.keys(read(text).settings)
  expect(Object.keys(DEFINITION).filter((name) => !shown.includes(name) && name !== 'catalog')).toEqual([])
})

test.each([
  ['a wrong key, with the nearest', 'lke = "a"', 'line 1: lke: there is no such key, expected "lake"'],
  [
    'a key of a section',
    '\n[service]\nurll = "a"',
    'line 3: service.urll: there is no such key, expected "url"',
  ],
  ['a wrong section', '[pulls]', 'line 1: pulls: there is no such key, expected "pull"'],
  ['a wrong type', '[service]\nmax_wait = 15', 'line 2: service.max_wait: it is 15, expected a time such as'],
  ['a number as text', '[gc]\nkeep = "3"', 'line 2: gc.keep: it is "3", expected a whole number from 1'],
  ['a fraction', '[gc]\nkeep = 1.5', 'line 2: gc.keep: it is 1.5, expected a whole number from 1'],
  ['a table in place of a list', '[pull]\nname = "a"', 'line 1: pull: it is a table, expected [[pull]]'],
  [
    'a value in place of a table',
    'service = 3',
    'line 1: service: it is a value, expected a table, [service]',
  ],
  [
    'a duplicate key',
    'lake = "a"\nlake = "b"',
    'line 2: "lake" stands here a second time, expected each key once',
  ],
  ['a duplicate section', '[gc]\n[gc]', 'line 2: "gc" stands here a second time, expected each key once'],
  ['text that is no TOML', 'lake = "a', 'line 1: this is no TOML'],
  ['a key of JavaScript', '__proto__ = 1', 'line 1: __proto__: there is no such key'],
  [
    'a list with one wrong item',
    '[targets]\npublish = ["delta", "x"]',
    'line 2: targets.publish: it is something else',
  ],
  [
    'an empty search',
    '[[sync]]\nname = "a"\nsearch = {}',
    'line 3: sync[0].search: it is something else, expected',
  ],
])('readSettings names line and key of %s', (_what, text, fault) => {
  expect(faults(text)).toEqual([expect.stringContaining(fault)])
})

test('readSettings names what is missing, and all faults at once in the order of the lines', () => {
  expect(faults('[[pull]]\nname = "a"\n\n[gc]\nkeep = 0')).toEqual(
    [
      'line 1: pull[0]: "content" is missing, expected "companies" or "relations"',
      '  line 1: pull[0]: "search" is missing, expected a table of lists, such as { CountryCode = ["SE"] }',
      '  line 5: gc.keep: it is 0, expected a whole number from 1',
    ].map((line) => line.trimStart()),
  )
})

test('two parts of one name are refused', () => {
  const part = (kind: string) => `[[${kind}]]\nname = "a"\nsearch = { CountryCode = ["SE"] }\n`
  expect(faults(`${part('sync')}${part('sync')}`)).toEqual([
    expect.stringContaining('line 2: sync[0].name: another part has the name "a" too'),
    expect.stringContaining('line 5: sync[1].name'),
  ])
})

const SECRET = 'hunter2-very-secret'
test.each([
  [
    'a token',
    `[service]\ntoken = "${SECRET}"`,
    'line 2: service.token: a secret does not stand',
    'token_env =',
  ],
  [
    'a secret that has no key',
    `[service]\npassword = "${SECRET}"`,
    'line 2: service.password',
    'an environment variable',
  ],
  [
    'the value in place of a name',
    `[service]\ntoken_env = "${SECRET}"`,
    'line 2: service.token_env',
    'the name of',
  ],
  [
    'a password in an address',
    `[service]\nurl = "https://u:${SECRET}@host"`,
    'line 2: service.url',
    'without it',
  ],
  [
    'one in a list',
    `[targets]\nsinks = ["a.duckdb", "postgres://u:${SECRET}@db/x"]`,
    'line 2: targets.sinks',
    'password',
  ],
  [
    'one in a query',
    `[targets]\nsinks = ["postgres://db/x?password=${SECRET}"]`,
    'line 2: targets.sinks',
    'password',
  ],
])('%s is refused by its line and not shown', (_what, text, where, expected) => {
  const found = faults(text)
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(where)
  expect(found[0]).toContain(expected)
  expect(found[0]).not.toContain(SECRET)
})

test('a section [check] says after how long nobody has looked for companies that left, whatever else it says', () => {
  const read = (text: string) => readSettings(text, 'firmlake.toml', '/').settings.check?.max_unlooked
  expect([read('[check]\n'), read('[check]\nmax_unlooked = "14d"\n'), read('lake = "a"\n')]).toEqual([
    8 * 24 * 3_600_000,
    14 * 24 * 3_600_000,
    undefined,
  ])
})
