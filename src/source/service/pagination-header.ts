/** `X-Pagination`: JSON text, held to the contract's types. */

import { PAGINATION_FIELDS, PAGINATION_HEADER, type Pagination } from '../../contract/limits.ts'
import { ToolkitError } from '../../core/errors.ts'
import { isObject } from '../../support/json-form.ts'
import { type AnswerHeaders, Retry } from './answer.ts'
import { STAND_IN } from './own-token.ts'

/** An absent `Cursor` is `null`: both say that there are no more results. */
export type PageFacts = Pagination & { readonly Cursor: string | null }

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
