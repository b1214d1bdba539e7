/** From the body of POST /v2/relations to a search, or to all messages that apply. */

import { LIMITS } from '../../../contract/limits.ts'
import { RELATIONS_MESSAGES, sentence } from '../../../contract/messages.ts'
import type { Caller } from '../../access/caller.ts'
import type { SearchParts } from '../shared/answer.ts'
import type { CheckedSearch } from './check-company-request.ts'
import { faultsOf, NO_OBJECT, readShared, type SharedRequest, stepOf } from './check-request.ts'
import { bindingOf, type ChainPosition } from './cursor-chain.ts'
import type { Filter } from './read-filters.ts'
import { inOrder } from './request-fields.ts'

export interface RelationsSearch {
  readonly filters: readonly Filter[]
  readonly pageSize: number
  /** `null` for the first page. */
  readonly after: ChainPosition | null
  readonly binding: string
}

type Key = keyof typeof RELATIONS_MESSAGES
interface Said {
  readonly key: Key
  readonly text: string
}

/** The sentences of each date parameter; they name it themselves. */
const DATES = {
  ContentUpdatedAt: { invalid: 'contentUpdatedAtInvalid', tooMany: 'contentUpdatedAtTooMany' },
  RelationsUpdatedAt: { invalid: 'relationsUpdatedAtInvalid', tooMany: 'relationsUpdatedAtTooMany' },
} as const
const DATE_NAMES = ['ContentUpdatedAt', 'RelationsUpdatedAt'] as const

const dateMessages = ({ faults }: SharedRequest): Said[] =>
  DATE_NAMES.flatMap((date) => {
    const { invalid, tooMany } = DATES[date]
    return [
      ...faultsOf(faults, 'date')
        .filter(({ name }) => name === date)
        .map(({ value }): Said => ({ key: invalid, text: sentence(RELATIONS_MESSAGES[invalid], { value }) })),
      ...faultsOf(faults, 'too many dates')
        .filter(({ name }) => name === date)
        .map((): Said => ({ key: tooMany, text: RELATIONS_MESSAGES[tooMany].text })),
    ]
  })

const parameterMessages = ({ faults, unauthorized }: SharedRequest): Said[] => [
  ...faultsOf(faults, 'unknown').map(
    ({ param }): Said => ({
      key: 'parameterInvalid',
      text: sentence(RELATIONS_MESSAGES.parameterInvalid, { param }),
    }),
  ),
  ...unauthorized.map(
    (value): Said => ({
      key: 'countryUnauthorized',
      text: sentence(RELATIONS_MESSAGES.countryUnauthorized, { value }),
    }),
  ),
]

const names = (filters: readonly Filter[], name: string): readonly Filter[] =>
  filters.filter((filter) => filter.name === name)

const countOf = (filters: readonly Filter[]): number =>
  filters.reduce((count, filter) => count + ('values' in filter ? filter.values.length : 0), 0)

/** Checks a request. Relations have no page mode: without a Cursor the chain begins, as with `*`. */
export const checkRelationsRequest = (
  parts: SearchParts,
  caller: Caller,
  body: unknown,
): CheckedSearch<RelationsSearch> => {
  const read = readShared('relations', parts, caller, body)
  if (read === null) return { kind: 'refused', messages: NO_OBJECT }
  const { shared } = read
  const { filters, pageSize, countries } = shared
  const binding = bindingOf('relations', parts, caller, shared.parameters, [pageSize])
  const step = stepOf(parts, binding, shared)

  const applies: Readonly<Partial<Record<Key, boolean>>> = {
    searchParametersMissing: shared.isMissing,
    pageSizeInvalid: !shared.isPageSizeValid,
    cursorInvalid: step.kind === 'invalid',
    cursorCapReached: step.kind === 'cap reached',
    tooManyIds: countOf(names(filters, 'InternalId')) > LIMITS.idsPerRequest,
    countryRequired: names(filters, 'NationalIdentificationNumber').length > 0 && countries.length === 0,
  }
  const said: Said[] = SIMPLE.flatMap((key) =>
    applies[key] === true ? [{ key, text: RELATIONS_MESSAGES[key].text }] : [],
  )
  const messages = inOrder(RELATIONS_MESSAGES, shared.bodyMessages, [
    ...said,
    ...parameterMessages(shared),
    ...dateMessages(shared),
  ])
  if (messages.length > 0 || step.kind !== 'go on')
    return { kind: 'refused', messages, ...(step.kind === 'invalid' && { isCursorInvalid: true }) }
  return { kind: 'search', search: { filters, pageSize, after: step.after, binding } }
}

/** Messages without anything to fill in. */
const SIMPLE = [
  'searchParametersMissing',
  'pageSizeInvalid',
  'cursorInvalid',
  'cursorCapReached',
  'tooManyIds',
  'countryRequired',
] as const satisfies readonly Key[]
