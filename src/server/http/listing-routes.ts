/** The operations that list: search parameters and batch files. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DICTIONARIES } from '../../contract/dictionaries.ts'
import {
  COMPANY_PARAMETERS,
  type CompanyParameter,
  type ParameterEntry,
  type ParameterListing,
} from '../../contract/listings.ts'
import { OPERATIONS, type Operation, RELATIONS_PARAMETERS } from '../../contract/requests.ts'
import type { Caller } from '../access/caller.ts'
import { sendJson } from './replies.ts'
import type { ServerParts } from './server-parts.ts'

export const callerOf = ({ entry }: FastifyRequest): Caller => {
  if (entry === null) throw new TypeError('Cannot answer without a caller')
  return entry.caller
}

export const addListingRoutes = (
  app: FastifyInstance,
  { batches, served }: Pick<ServerParts, 'batches' | 'served'>,
): void => {
  const add = (operation: Operation, listing: (caller: Caller) => unknown): void => {
    const { method, path } = OPERATIONS[operation]
    app.route({
      method,
      url: path,
      config: { operation },
      handler: async (request, reply) => sendJson(reply, JSON.stringify(await listing(callerOf(request)))),
    })
  }
  add('companiesSearchParameters', (caller) => companyParameters(caller, served().countries))
  add('relationsSearchParameters', relationsParameters)
  add('batchFiles', (caller) => batches.listing(caller))
}

// The two search-parameters listings, from the contract's declarations.

const NAMES = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' })

const countryName = (code: string): string => {
  try {
    return NAMES.of(code) ?? code
  } catch {
    // Not of the form of a code.
    return code
  }
}

type Values = NonNullable<ParameterEntry['Values']>

const valuesOf = ({ name, codes }: CompanyParameter, countries: readonly string[]): Values | undefined => {
  if (name === 'CountryCode') return countries.map((code) => ({ Value: code, Name: countryName(code) }))
  if (codes === undefined) return undefined
  return DICTIONARIES[codes].values.map(({ value, name: text }) => ({ Value: value, Name: text }))
}

/** @param countries those of the records; the caller sees the authorized ones */
export const companyParameters = (caller: Caller, countries: readonly string[]): ParameterListing => {
  const { rights } = caller
  const seen = countries.filter((code) => rights === 'everything' || rights.countries.has(code))
  return {
    SearchParameters: COMPANY_PARAMETERS.map((parameter) => {
      const values = valuesOf(parameter, seen)
      return {
        ParameterName: parameter.name,
        Datatype: parameter.datatype,
        Description: parameter.about,
        FilterType: parameter.filterClass,
        IsSortable: parameter.sortable,
        ...(values && { Values: values }),
      }
    }),
  }
}

export const relationsParameters = (): ParameterListing => ({
  SearchParameters: RELATIONS_PARAMETERS.map(({ name, datatype, about }) => ({
    ParameterName: name,
    Datatype: datatype,
    Description: about,
  })),
})
