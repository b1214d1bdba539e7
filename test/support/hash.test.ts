import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hashFile, seal, sha256Of, unseal } from '../../src/support/hash.ts'
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

/** Four buffers of 1 MiB and little else. */
const MOST_KEPT_BYTES = 5 * 2 ** 20

test('files hashed at once, however many, leave the memory of a few', async () => {
  const path = join(await temporaryFolder(), 'a')
  await writeFile(path, 'abc')
  // In a process of its own: what else a process of tests keeps comes and goes.
  const script = `
    import { hashFile } from ${JSON.stringify(new URL('../../src/support/hash.ts', import.meta.url).href)}
    gc()
    const before = process.memoryUsage().arrayBuffers
    await Promise.all(Array.from({ length: 32 }, () => hashFile(${JSON.stringify(path)})))
    // What is collected is given back by another thread, soon after.
    let kept
    for (let time = 0; time < 100; time++) {
      gc()
      kept = process.memoryUsage().arrayBuffers - before
      if (kept < ${MOST_KEPT_BYTES}) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    console.log(kept)`
  const args = ['--expose-gc', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(Number(stdout)).toBeGreaterThan(0)
  expect(Number(stdout)).toBeLessThan(MOST_KEPT_BYTES)
})

const VALUE = { name: 'å "quoted"', list: [{ sha256: 'a'.repeat(64) }], inner: { at: null } }

test.each([JSON.stringify(VALUE), JSON.stringify(VALUE, null, 2)])('unseal gives what was sealed', (text) => {
  for (const end of ['', '\n'])
    expect(unseal(Buffer.from(seal(text) + end))).toEqual({ kind: 'sealed', value: VALUE })
})

test('unseal takes no object that never had a seal', () => {
  expect(unseal(Buffer.from(`${JSON.stringify(VALUE)}\n`)).kind).toBe('damaged')
})

test('unseal finds every changed bit and every cut', () => {
  const whole = Buffer.from(`${seal(JSON.stringify(VALUE))}\n`)
  for (let at = 0; at < whole.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ (1 << bit)
      expect(unseal(changed).kind, `bit ${bit} of byte ${at}`).toBe('damaged')
    }
    if (at < whole.length - 1) expect(unseal(whole.subarray(0, at)).kind).toBe('damaged')
  }
})
