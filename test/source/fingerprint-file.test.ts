import { appendFile, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assertUnchanged, fingerprintFile, identityOf } from '../../src/source/local-sources.ts'

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-fingerprint-'))
  file = join(folder, 'a.br')
  await writeFile(file, 'abc')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('fingerprintFile gives length and SHA-256', async () => {
  expect(await fingerprintFile(file)).toEqual({
    bytes: 3,
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  })
})

test('fingerprintFile reports a missing file', async () => {
  await expect(fingerprintFile(join(folder, 'no'))).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
})

test('identityOf stays the same while nobody writes', async () => {
  expect(await identityOf(file)).toBe(await identityOf(file))
})

test('identityOf changes when a file grows, is touched or is replaced', async () => {
  const changes = [
    () => appendFile(file, 'd'),
    () => utimes(file, 1, 1),
    async () => {
      await writeFile(`${file}.new`, 'abcd')
      await utimes(`${file}.new`, 1, 1)
      await rename(`${file}.new`, file)
    },
  ]
  for (const change of changes) {
    const before = await identityOf(file)
    await change()
    expect(await identityOf(file)).not.toBe(before)
  }
})

test('assertUnchanged names the file that changed', () => {
  expect(() => assertUnchanged('a.br', '3-1-1', '3-1-1')).not.toThrow()
  expect(() => assertUnchanged('a.br', '3-1-1', '4-2-1')).toThrow(
    expect.objectContaining({
      code: 'SOURCE_CHANGED',
      context: { source: 'a.br', before: '3-1-1', after: '4-2-1' },
    }),
  )
})
