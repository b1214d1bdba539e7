/** The operations that list: search parameters and batch files. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { OPERATIONS, type Operation } from '../../contract/requests.ts'
import type { Caller } from '../access/caller.ts'
import { companyParameters, relationsParameters } from './parameter-listings.ts'
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
