import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { testFiles } from './test/projects.ts'
import { scratchPlace } from './test/support/scratch-place.ts'

const PLACE = scratchPlace()

const { unit: _, ...others } = testFiles(import.meta.dirname)

// Files of `unit`, `integration` and `long` share processes: a process for each would take longer than its tests. So each file puts
// back what it changes of its process; what it stubs of the environment is put back here.
const SHARED = { isolate: false, unstubEnvs: true, unstubGlobals: true }

export default defineConfig({
  test: {
    // Two cores that others use too: a test that hangs shall fail, one that is slow shall not.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: {
      TMPDIR: PLACE,
      // What a lake's readers remember stays out of the user's own cache.
      FIRMLAKE_WORK_DIR: join(PLACE, 'firmlake-test-work'),
      // Processes that tests start load the same modules again and again: half of what a short one takes.
      NODE_COMPILE_CACHE: join(tmpdir(), 'firmlake-compiled-for-tests'),
    },
    pool: 'forks',
    // Two more than the two cores: tests wait for processes, servers and clocks.
    maxWorkers: 4,
    setupFiles: ['test/support/catalog-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: Object.values(others).flat(),
          setupFiles: ['test/support/catalog-setup.ts', 'test/support/unit-setup.ts'],
          ...SHARED,
        },
      },
      ...Object.entries(others).map(([name, files]) => ({
        extends: true as const,
        test: { name, include: [...files], ...(['integration', 'long'].includes(name) && SHARED) },
      })),
    ],
  },
})
