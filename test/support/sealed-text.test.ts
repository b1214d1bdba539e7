import { expect, test } from 'vitest'
import { seal, unseal } from '../../src/support/hash.ts'

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
