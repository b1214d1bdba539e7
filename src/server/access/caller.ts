/** Who asks, and what the subscription lets them see. */

import type { Area } from '../../contract/authorization.ts'

export type Areas = ReadonlySet<Area>

export interface Caller {
  /** Name of the token's entry, for logs and metrics; never the token. */
  readonly name: string
  /** Every country with every area, records without a country too; or areas by country. */
  readonly rights:
    | 'everything'
    | {
        readonly countries: ReadonlyMap<string, Areas>
        /** Areas for records without a country; `null` where those may not be seen. */
        readonly withoutCountry: Areas | null
      }
}

/** Areas for a record of a country (`null`: it has none); `null` where the record may not be seen at all. */
export const areasFor = (caller: Caller, country: string | null, every: Areas): Areas | null => {
  if (caller.rights === 'everything') return every
  const { countries, withoutCountry } = caller.rights
  return country === null ? withoutCountry : (countries.get(country) ?? null)
}

/** Equal for the same rights. */
export const textOf = (rights: Caller['rights']): string =>
  JSON.stringify(rights, (_name, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  )
