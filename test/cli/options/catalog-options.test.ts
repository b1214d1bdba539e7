import { afterEach, expect, test, vi } from 'vitest'
import { catalogOf } from '../../../src/cli/options/catalog-options.ts'

afterEach(() => vi.unstubAllEnvs())

test('catalogOf names no catalog where neither an option nor the environment does', () => {
  vi.stubEnv('FIRMLAKE_CATALOG', '')
  vi.stubEnv('FIRMLAKE_CATALOG_TOKEN', 'secret')
  expect(catalogOf()).toBeUndefined()
})

test('catalogOf takes what no option says, and what proves who asks, from the environment', () => {
  vi.stubEnv('FIRMLAKE_CATALOG', 'https://catalog.example')
  vi.stubEnv('FIRMLAKE_CATALOG_WAREHOUSE', 'main')
  vi.stubEnv('FIRMLAKE_CATALOG_NAMESPACE', 'firms')
  vi.stubEnv('FIRMLAKE_CATALOG_TOKEN', 'secret')
  vi.stubEnv('FIRMLAKE_CATALOG_CREDENTIAL', '')
  expect(catalogOf({ namespace: 'other' })).toEqual({
    url: 'https://catalog.example',
    warehouse: 'main',
    namespace: 'other',
    token: 'secret',
  })
})
