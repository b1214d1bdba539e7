import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Two cores that others use too: a test that hangs shall fail, one that is slow shall not.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // What a lake's readers remember stays out of the user's own cache.
    env: { FIRMLAKE_WORK_DIR: join(tmpdir(), 'firmlake-test-work') },
    pool: 'forks',
    maxWorkers: 2,
  },
})
