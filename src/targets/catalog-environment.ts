/** The Iceberg catalog that is named beside the work: by address, else by the environment; secrets only from there. */

import type { CatalogOptions } from '../publish/iceberg/catalog-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Names that a command line may give. */
interface NamedCatalog {
  readonly url?: string | undefined
  readonly warehouse?: string | undefined
  readonly namespace?: string | undefined
}

/**
 * The catalog of FIRMLAKE_CATALOG and the variables beside it; `undefined` where none is named: then the metadata of
 * published Iceberg tables stands in the lake.
 *
 * @param named takes precedence over the variables; credentials come from these alone, since others see a command line
 * @example
 * import { catalogFromEnvironment } from 'firmlake'
 *
 * console.log(catalogFromEnvironment({ FIRMLAKE_CATALOG: 'https://catalog.example.com' })?.url) // https://catalog.example.com
 */
export const catalogFromEnvironment = (
  environment: Environment = process.env,
  named: NamedCatalog = {},
): CatalogOptions | undefined => {
  const url = named.url ?? (environment.FIRMLAKE_CATALOG || undefined)
  if (url === undefined) return undefined
  return {
    url,
    warehouse: named.warehouse ?? (environment.FIRMLAKE_CATALOG_WAREHOUSE || undefined),
    namespace: named.namespace ?? (environment.FIRMLAKE_CATALOG_NAMESPACE || undefined),
    token: environment.FIRMLAKE_CATALOG_TOKEN || undefined,
    credential: environment.FIRMLAKE_CATALOG_CREDENTIAL || undefined,
  }
}
