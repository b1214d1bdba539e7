/** The Iceberg catalog of a command: from its options, else from the environment; secrets only from there. */

import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'

export interface CatalogFlags {
  readonly catalog?: string | undefined
  readonly warehouse?: string | undefined
  readonly namespace?: string | undefined
}

const fromEnvironment = (name: string): string | undefined =>
  process.env[`FIRMLAKE_CATALOG${name}`] || undefined

/**
 * `undefined` where none is named: then the metadata stands in the lake. Credentials are no matter of a
 * command line, which others see.
 */
export const catalogOf = ({
  catalog,
  warehouse,
  namespace,
}: CatalogFlags = {}): CatalogOptions | undefined => {
  const url = catalog ?? fromEnvironment('')
  return url === undefined
    ? undefined
    : {
        url,
        warehouse: warehouse ?? fromEnvironment('_WAREHOUSE'),
        namespace: namespace ?? fromEnvironment('_NAMESPACE'),
        token: fromEnvironment('_TOKEN'),
        credential: fromEnvironment('_CREDENTIAL'),
      }
}
