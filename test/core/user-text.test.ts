import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRules } from '../../src/checks/read-rules.ts'
import { searchOf } from '../../src/cli/options/pull-options.ts'
import { decodeUserText, readUserText } from '../../src/core/user-text.ts'
import { hashKeyOf } from '../../src/lake/projection/hash-key.ts'
import { readTokens } from '../../src/server/access/choose-tokens.ts'
import { readFaults } from '../../src/server/faults/read-faults.ts'
import { readToken } from '../../src/source/service/token.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each(['', 'a', '\u00e5\n', 'a\ufeffb', '\u{1f600}'])(
  'decodeUserText gives %j with and without the mark',
  (text) => {
    expect(decodeUserText(Buffer.from(text), 'x')).toBe(text)
    expect(decodeUserText(Buffer.from(`\ufeff${text}`), 'x')).toBe(text)
  },
)

test.each([
  ['UTF-16 with its mark', Buffer.from('\ufeffab', 'utf16le'), 'it is UTF-16'],
  ['UTF-16 the other way round', Buffer.from('\ufeffab', 'utf16le').swap16(), 'it is UTF-16'],
  ['UTF-16 without a mark', Buffer.from('ab', 'utf16le'), 'it is UTF-16'],
  ['UTF-16 without a mark, the other way round', Buffer.from('ab', 'utf16le').swap16(), 'it is UTF-16'],
  ['Latin-1', Buffer.from('na\u00efve', 'latin1'), 'it holds bytes that are no UTF-8'],
  ['a character that is cut', Buffer.from('\u00e5').subarray(0, 1), 'it holds bytes that are no UTF-8'],
  ['NUL bytes', Buffer.from('abcdef\0'), 'it holds NUL bytes'],
])('decodeUserText refuses %s by name', (_what, bytes, reason) => {
  expect(() => decodeUserText(bytes, 'ids.txt')).toThrow(
    expect.objectContaining({
      code: 'TEXT_NOT_UTF8',
      message: expect.stringContaining(`"ids.txt": ${reason}`),
    }),
  )
})

const KEY = 'k'.repeat(32)

/** Whoever reads a text that a person wrote, with a text that is right for it. */
const READERS: readonly (readonly [string, string, (path: string) => Promise<unknown>])[] = [
  ['a text', 'a', readUserText],
  ['a search', '{"CountryCode":["SE"]}', (path) => searchOf(`@${path}`)],
  ['a token', 'abc', (file) => readToken({ file })],
  ['a hash key', KEY, (file) => hashKeyOf({ FIRMLAKE_HASH_KEY_FILE: file })],
  ['faults', '{"faults":[]}', (path) => readFaults(path)],
  ['tokens', '{"tokens":[]}', (path) => readTokens(path)],
]
test.each(READERS)('%s is read with a byte order mark, and refused in UTF-16', async (_what, text, read) => {
  const path = join(await temporaryFolder(), 'text')
  const outcome = (): Promise<unknown> => read(path).catch((error: unknown) => String(error))
  await writeFile(path, text)
  const plain = await outcome()
  await writeFile(path, `\ufeff${text}`)
  expect(await outcome()).toEqual(plain)
  await writeFile(path, Buffer.from(`\ufeff${text}`, 'utf16le'))
  await expect(read(path)).rejects.toMatchObject({ code: 'TEXT_NOT_UTF8' })
})

test('a rule is read with a byte order mark, and refused in UTF-16', async () => {
  const folder = join(await temporaryFolder(), 'rules')
  await mkdir(folder)
  await writeFile(join(folder, 'a.sql'), '\ufeffSELECT 1;\n')
  expect(await readRules(folder)).toEqual({ a: 'SELECT 1' })
  await writeFile(join(folder, 'a.sql'), Buffer.from('SELECT 1', 'utf16le'))
  await expect(readRules(folder)).rejects.toMatchObject({ code: 'TEXT_NOT_UTF8' })
})
