import { expect, test } from 'vitest'
import { checkPlanOrigin } from '../../../src/source/service/address.ts'

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://a.example/', 'https://a.example/v9/base'],
  ['https://A.example:443', 'https://a.example'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/x'],
])('the token for %s goes to %s', (own, planned) => {
  expect(() => checkPlanOrigin(own, planned)).not.toThrow()
})

test.each([
  ['https://a.example', 'https://b.example'],
  ['https://a.example', 'http://a.example'],
  ['https://a.example', 'https://a.example:8443'],
  ['https://a.example', 'https://a.example.evil.example'],
  ['https://a.example', 'https://a.example@evil.example'],
  ['https://a.example', 'https://sub.a.example'],
  ['https://a.example', 'file:///etc/passwd'],
  ['https://a.example', 'a.example'],
])('the token for %s does not go to %s', (own, planned) => {
  expect(() => checkPlanOrigin(own, planned)).toThrow(expect.objectContaining({ code: 'PLAN_ORIGIN' }))
})

test('a plan that alone names a service is refused with both settings, and user and password of neither are shown', () => {
  for (const own of [undefined, ''])
    expect(() => checkPlanOrigin(own, 'https://me:secret@a.example')).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: expect.stringMatching(/"https:\/\/a\.example".*FIRMLAKE_URL.*--url/),
      }),
    )
  expect(() => checkPlanOrigin('https://me:secret@b.example', 'https://a.example')).toThrow(
    expect.objectContaining({ code: 'PLAN_ORIGIN', message: expect.not.stringContaining('secret') }),
  )
})
