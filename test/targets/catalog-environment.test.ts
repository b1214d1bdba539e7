import { expect, test } from 'vitest'
import { catalogFromEnvironment } from '../../src/targets/catalog-environment.ts'

test('catalogFromEnvironment names no catalog where neither an option nor the environment does', () => {
  expect(catalogFromEnvironment({ FIRMLAKE_CATALOG: '', FIRMLAKE_CATALOG_TOKEN: 'secret' })).toBeUndefined()
})

test('catalogFromEnvironment takes what no option says, and what proves who asks, from the environment', () => {
  const environment = {
    FIRMLAKE_CATALOG: 'https://catalog.example',
    FIRMLAKE_CATALOG_WAREHOUSE: 'main',
    FIRMLAKE_CATALOG_NAMESPACE: 'firms',
    FIRMLAKE_CATALOG_TOKEN: 'secret',
    FIRMLAKE_CATALOG_CREDENTIAL: '',
  }
  expect(catalogFromEnvironment(environment, { namespace: 'other' })).toEqual({
    url: 'https://catalog.example',
    warehouse: 'main',
    namespace: 'other',
    token: 'secret',
  })
})
