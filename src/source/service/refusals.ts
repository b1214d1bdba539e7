/** The service's refusals (400): each sentence of the contract and the error code it becomes. */

import { BODY_MESSAGES, COMPANY_MESSAGES, type Message, RELATIONS_MESSAGES } from '../../contract/messages.ts'
import type { Content } from '../../contract/objects.ts'
import { type ErrorCode, ToolkitError } from '../../core/errors.ts'

const COMPANY_CODES: Readonly<Record<keyof typeof COMPANY_MESSAGES, ErrorCode>> = {
  searchParametersMissing: 'SEARCH_MISSING',
  pageNumberInvalid: 'PAGE_NUMBER_REFUSED',
  pageSizeInvalid: 'PAGE_SIZE_REFUSED',
  currencyInvalid: 'CURRENCY_REFUSED',
  sortFieldInvalid: 'SORT_REFUSED',
  sortDirectionInvalid: 'SORT_REFUSED',
  countryUnauthorized: 'COUNTRY_REFUSED',
  parameterInvalid: 'PARAMETER_REFUSED',
  cursorInvalid: 'CURSOR_REFUSED',
  cursorCapReached: 'CURSOR_CAP',
  cursorCombined: 'CURSOR_COMBINED',
  dateInvalid: 'VALUES_REFUSED',
  tooManyDates: 'VALUES_REFUSED',
  tooManyValues: 'VALUES_REFUSED',
}
const RELATIONS_CODES: Readonly<Record<keyof typeof RELATIONS_MESSAGES, ErrorCode>> = {
  searchParametersMissing: 'SEARCH_MISSING',
  pageSizeInvalid: 'PAGE_SIZE_REFUSED',
  cursorInvalid: 'CURSOR_REFUSED',
  cursorCapReached: 'CURSOR_CAP',
  parameterInvalid: 'PARAMETER_REFUSED',
  countryUnauthorized: 'COUNTRY_REFUSED',
  tooManyIds: 'VALUES_REFUSED',
  countryRequired: 'COUNTRY_NEEDED',
  contentUpdatedAtInvalid: 'VALUES_REFUSED',
  contentUpdatedAtTooMany: 'VALUES_REFUSED',
  relationsUpdatedAtInvalid: 'VALUES_REFUSED',
  relationsUpdatedAtTooMany: 'VALUES_REFUSED',
}
/** A request that is no object or has a field of a wrong type is our own mistake: no option mends it. */
const BODY_CODES: Readonly<Record<keyof typeof BODY_MESSAGES, ErrorCode>> = {
  bodyInvalid: 'REQUEST_REFUSED',
  fieldInvalid: 'REQUEST_REFUSED',
}

interface Rule {
  readonly form: RegExp
  readonly code: ErrorCode
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** The sentence with `{placeholders}` standing for anything, also over several lines. */
const formOf = ({ text }: Message): RegExp =>
  new RegExp(
    `^${text
      .split(/\{\w+\}/)
      .map(escaped)
      .join('[\\s\\S]*')}$`,
  )

const rulesOf = <K extends string>(
  messages: Readonly<Record<K, Message>>,
  codes: Readonly<Record<K, ErrorCode>>,
): Rule[] => (Object.keys(messages) as K[]).map((key) => ({ form: formOf(messages[key]), code: codes[key] }))

const BODY_RULES = rulesOf(BODY_MESSAGES, BODY_CODES)
// Either operation may say a sentence of the other one; its own come first.
const RULES: Readonly<Record<Content, readonly Rule[]>> = {
  companies: [
    ...rulesOf(COMPANY_MESSAGES, COMPANY_CODES),
    ...rulesOf(RELATIONS_MESSAGES, RELATIONS_CODES),
    ...BODY_RULES,
  ],
  relations: [
    ...rulesOf(RELATIONS_MESSAGES, RELATIONS_CODES),
    ...rulesOf(COMPANY_MESSAGES, COMPANY_CODES),
    ...BODY_RULES,
  ],
}

/** The code of one sentence; REQUEST_REFUSED for one that the contract does not know. */
export const refusalCode = (content: Content, text: string): ErrorCode =>
  RULES[content].find(({ form }) => form.test(text.trim()))?.code ?? 'REQUEST_REFUSED'

/** The most that a message shows of what the service says: sentences, and characters in all. */
const MAX_SENTENCES = 5
const MAX_TEXT = 500

/** A text of a list, in JSON that may be cut off behind it: the name of a member is followed by a colon. */
const LISTED_TEXT = /"(?:[^"\\\p{Cc}]|\\.)*"(?=\s*[,\]])/gu

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The sentences of a refusal's body, whose end may be missing; none where it is no validation body. */
const sentencesOf = (body: string): string[] => {
  const document = parsed(body)
  if (document === undefined) {
    const from = /"errors"\s*:/i.exec(body)?.index ?? body.length
    return [...body.slice(from).matchAll(LISTED_TEXT)].map(([text]) => parsed(text)).filter(isText)
  }
  const errors = member(document, 'errors')
  const lists = Array.isArray(errors) ? [errors] : isObject(errors) ? Object.values(errors) : []
  return lists.flat().filter(isText)
}
const isText = (value: unknown): value is string => typeof value === 'string'
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const member = (value: unknown, name: string): unknown =>
  isObject(value) ? Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1] : undefined

/**
 * The error of a 400. The first sentence that the contract knows decides the code, the first few stand in the text.
 *
 * @param hide takes out of a text what may not be shown (the token, values of persons)
 */
export const refusal = (
  action: string,
  content: Content,
  body: string,
  hide: (text: string) => string,
): ToolkitError => {
  const sentences = sentencesOf(body)
  const known = sentences.find((one) => refusalCode(content, one) !== 'REQUEST_REFUSED')
  const code = known === undefined ? 'REQUEST_REFUSED' : refusalCode(content, known)
  const shown = sentences.slice(0, MAX_SENTENCES)
  const text = hide(shown.join(' ').replaceAll(/\p{Cc}+/gu, ' ')).slice(0, MAX_TEXT)
  const said = sentences.length > MAX_SENTENCES ? `${text} … and more` : text
  return new ToolkitError(
    code,
    `${action}: the service refuses the request (400)${said === '' ? '' : `, it says: ${said.replace(/\.$/, '')}`}`,
    { status: 400 },
  )
}
