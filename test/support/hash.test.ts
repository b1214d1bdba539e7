import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { hashFile, sha256Of } from '../../src/support/hash.ts'
import { temporaryFolder } from './temporary-folder.ts'

const OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

test('sha256Of gives the published hash of "abc"', () => {
  expect(sha256Of('abc')).toBe(OF_ABC)
  expect(sha256Of(Buffer.from('abc'))).toBe(OF_ABC)
})

test('hashFile gives length and hash, and lines only when asked', async () => {
  const path = join(await temporaryFolder(), 'a')
  await writeFile(path, 'abc')
  expect(await hashFile(path)).toEqual({ bytes: 3, sha256: OF_ABC, lines: 0 })
  expect(await hashFile(path, { countLines: true })).toMatchObject({ lines: 1 })
})

test('hashFile counts lines across chunks, with and without a last line end', async () => {
  const path = join(await temporaryFolder(), 'a')
  const line = `${'x'.repeat(999)}\n`
  for (const [text, lines] of [
    ['', 0],
    ['\n', 1],
    [line.repeat(3000), 3000],
    [`${line.repeat(3000)}x`, 3001],
  ] as const) {
    await writeFile(path, text)
    expect(await hashFile(path, { countLines: true })).toEqual({
      bytes: text.length,
      sha256: sha256Of(text),
      lines,
    })
  }
})

test('hashFile stops when it is aborted', async () => {
  const path = join(await temporaryFolder(), 'a')
  await writeFile(path, 'abc')
  await expect(hashFile(path, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
})

test('hashFile throws the error of the system', async () => {
  await expect(hashFile(join(await temporaryFolder(), 'a'))).rejects.toMatchObject({ code: 'ENOENT' })
})

test('files hashed at once, however many, leave the memory of a few', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const path = join(await temporaryFolder(), 'a')
  await writeFile(path, 'abc')
  collect()
  const before = process.memoryUsage().arrayBuffers
  await Promise.all(Array.from({ length: 32 }, () => hashFile(path)))
  collect()
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5 * 2 ** 20)
})
