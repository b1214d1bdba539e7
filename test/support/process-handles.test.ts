import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.doUnmock('node:fs')
  vi.resetModules()
})

test.each(['EMFILE', 'ENFILE'])(
  'a process that has no file handle left (%s) takes no other one for dead',
  async (code) => {
    const { temporaryName } = await import('../../src/support/process-identity.ts')
    const name = temporaryName()
    vi.resetModules()
    vi.doMock('node:fs', async (original) => ({
      ...(await original<typeof import('node:fs')>()),
      readFileSync: () => {
        throw Object.assign(new Error(`${code}: too many open files`), { code })
      },
    }))
    const short = await import('../../src/support/process-identity.ts')
    expect(() => short.temporaryLiveness(name)).toThrow(code)
  },
)
