/** A page of a search: header and body of the same sound answer, or neither. */

import { AS_OF_HEADER, PAGINATION_FIELDS, PAGINATION_HEADER, type Pagination } from '../../contract/limits.ts'
import { OPERATIONS } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { isObject } from '../../support/json-form.ts'
import { type AnswerHeaders, Retry } from './answer.ts'
import { acceptEncoding, recordsCheck, wholeBody } from './bodies.ts'
import type { ServiceConnection } from './connection.ts'
import { hiderOf, type PageRequest, pageAction, pageRequestBody } from './page-request.ts'
import { refusal } from './refusals.ts'
import { answeredAt } from './service-clock.ts'
import { STAND_IN, withoutToken, withToken } from './token.ts'

/** An absent `Cursor` is `null`: both say that there are no more results. */
type PageFacts = Pagination & { readonly Cursor: string | null }

const invalid = (action: string, said: string): ToolkitError =>
  new ToolkitError('ANSWER_INVALID', `${action}: ${PAGINATION_HEADER} ${said}`, { kind: 'pagination' })

const TYPES = {
  integer: {
    is: (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0,
    expected: 'a whole number',
  },
  boolean: { is: (value: unknown): boolean => typeof value === 'boolean', expected: 'true or false' },
  cursor: {
    is: (value: unknown): boolean =>
      value === null || (typeof value === 'string' && value !== '' && !value.includes(STAND_IN)),
    expected: 'a token or null',
  },
} as const

type Values = Readonly<Record<string, unknown>>

const isPagination = (value: Values, action: string): value is Values & Pagination => {
  for (const [name, { type, present }] of Object.entries(PAGINATION_FIELDS)) {
    const given = value[name]
    if (given === undefined && present !== 'always') continue
    if (!TYPES[type].is(given)) {
      throw invalid(action, `has no usable "${name}", expected ${TYPES[type].expected}`)
    }
  }
  return true
}

/**
 * Reads the header of an answer 200.
 *
 * @throws {Retry} where it is no JSON
 * @throws {ToolkitError} ANSWER_INVALID where it is missing, doubled or of a wrong form
 */
export const readPagination = (headers: AnswerHeaders, action: string): PageFacts => {
  const text = headers[PAGINATION_HEADER.toLowerCase()]
  if (text === undefined) throw invalid(action, 'is missing')
  if (typeof text !== 'string') throw invalid(action, 'came more than once')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Retry(`${PAGINATION_HEADER} is no JSON`, { cause: error })
  }
  if (!isObject(value)) throw invalid(action, 'is no JSON object')
  if (!isPagination(value, action)) throw invalid(action, 'cannot be used')
  return { ...value, Cursor: value.Cursor ?? null }
}

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
  /** As of when its data is: of the service as of the answer, of a served lake as it says. */
  readonly dataAsOf: string
}

/** As of when a served lake says that its data is; `undefined` where it does not, or says something of the future. */
const saidAsOf = (
  { [AS_OF_HEADER.toLowerCase()]: said }: AnswerHeaders,
  asOf: string,
): string | undefined => {
  const ms = typeof said === 'string' ? Date.parse(said) : Number.NaN
  return ms <= Date.parse(asOf) ? new Date(ms).toISOString() : undefined
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
  const check = recordsCheck()
  let page: Page<T> | undefined
  await connection.send(
    {
      method: 'POST',
      path: OPERATIONS[request.content].path,
      headers: { 'content-type': 'application/json', 'accept-encoding': acceptEncoding() },
      body: pageRequestBody(sent),
    },
    {
      action,
      signal,
      receive: (head) => {
        const given = readPagination(head.headers, action)
        const pagination = { ...given, Cursor: given.Cursor && withoutToken(given.Cursor, token) }
        const asOf = new Date(answeredAt(action, head.headers, connection.clock)).toISOString()
        return wholeBody(head, { action, maxBytes: connection.maxBodyBytes, token, check }, (body) => {
          const dataAsOf = saidAsOf(head.headers, asOf) ?? asOf
          page = { pagination, value: read(body, pagination), asOf, dataAsOf }
        })
      },
      refusal: (body) => refusal(action, request.content, body, hiderOf(token, request.search)),
    },
  )
  if (!page) throw new TypeError('A page was answered but not read')
  return page
}
