/** A page of a search: header and body of the same sound answer, or neither. */

import { OPERATIONS } from '../../contract/requests.ts'
import { dateOf } from '../../support/http-values.ts'
import { recordsCheck } from './check-text.ts'
import type { ServiceConnection } from './connection.ts'
import { ACCEPT_ENCODING } from './content-codings.ts'
import { withoutToken, withToken } from './own-token.ts'
import { type PageRequest, pageAction, pageRequestBody } from './page-request.ts'
import { type PageFacts, readPagination } from './pagination-header.ts'
import { refusal } from './refusals.ts'
import { hiderOf } from './request-label.ts'
import { wholeBody } from './whole-body.ts'

/**
 * Makes something of a whole, decompressed body and its header. It is called for each answer with status 200 until
 * it returns: a ToolkitError ANSWER_INVALID with `context.kind` `'half'` asks for a retry, anything else thrown is final.
 */
export type ReadBody<T> = (body: Buffer, pagination: PageFacts) => T

export interface Page<T> {
  readonly pagination: PageFacts
  readonly value: T
  /** The service's own clock (`Date`), else ours; ISO 8601 in UTC. */
  readonly asOf: string
}

export const fetchPage = async <T>(
  connection: ServiceConnection,
  request: PageRequest,
  read: ReadBody<T>,
  signal?: AbortSignal,
): Promise<Page<T>> => {
  const action = pageAction(request)
  const { token } = connection
  const { cursor } = request
  const sent = cursor === undefined ? request : { ...request, cursor: withToken(cursor, token) }
  const { now } = connection.timing
  const check = recordsCheck()
  let page: Page<T> | undefined
  await connection.send(
    {
      method: 'POST',
      path: OPERATIONS[request.content].path,
      headers: { 'content-type': 'application/json', 'accept-encoding': ACCEPT_ENCODING },
      body: pageRequestBody(sent),
    },
    {
      action,
      signal,
      receive: (head) => {
        const given = readPagination(head.headers, action)
        const pagination = { ...given, Cursor: given.Cursor && withoutToken(given.Cursor, token) }
        const asOf = new Date(dateOf(head.headers.date) ?? now()).toISOString()
        return wholeBody(head, { action, maxBytes: connection.maxBodyBytes, token, check }, (body) => {
          page = { pagination, value: read(body, pagination), asOf }
        })
      },
      refusal: (body) => refusal(action, request.content, body, hiderOf(token, request.search)),
    },
  )
  if (!page) throw new TypeError('A page was answered but not read')
  return page
}
