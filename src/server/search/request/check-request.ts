/** Checks that both searches share: the body's fields, the parameters, the page size, the countries and the cursor. */

import { FIRST_CURSOR, LIMITS } from '../../../contract/limits.ts'
import { BODY_MESSAGES } from '../../../contract/messages.ts'
import type { Content } from '../../../contract/objects.ts'
import { COMPANIES_REQUEST, RELATIONS_REQUEST } from '../../../contract/requests.ts'
import { type ExactObject, isJsonObject } from '../../../support/exact-json.ts'
import type { Caller } from '../../access/caller.ts'
import type { SearchParts } from '../shared/answer.ts'
import { isAuthorized } from '../shared/visible-records.ts'
import { type ChainStep, chainStep } from './cursor-chain.ts'
import { type Fault, mostSaid, type ReadFilters, readFilters } from './read-filters.ts'
import { fieldMessages, integerField, objectField, textField } from './request-fields.ts'

const DECLARED = { companies: COMPANIES_REQUEST, relations: RELATIONS_REQUEST } as const

/** A request with fields of the right types; the rules of its values are each search's own. */
export interface SharedRequest extends ReadFilters {
  readonly parameters: Readonly<ExactObject>
  /** `SearchParameters` absent, `null`, empty, or with nothing but `null` in it. */
  readonly isMissing: boolean
  readonly pageSize: number
  readonly isPageSizeValid: boolean
  /** As given; `null` where none is. */
  readonly cursor: string | null
  /** `CountryCode` values that the caller may not name. */
  readonly unauthorized: readonly string[]
  /** Messages of the body, which come before all others. */
  readonly bodyMessages: readonly string[]
}

/** The body as an object with what both searches know of it; `null` where it is no object. */
export const readShared = (
  content: Content,
  { countries }: SearchParts,
  caller: Caller,
  body: unknown,
): { readonly fields: Readonly<ExactObject>; readonly shared: SharedRequest } | null => {
  if (!isJsonObject(body)) return null
  const parameters = objectField(body, 'SearchParameters') ?? {}
  const read = readFilters(content, parameters)
  const pageSize = integerField(body, 'PageSize') ?? LIMITS.pageSize.default
  return {
    fields: body,
    shared: {
      ...read,
      parameters,
      // A field of a wrong type is not missing: that has its own message.
      isMissing:
        (body.SearchParameters ?? parameters) === parameters &&
        read.faults.length === 0 &&
        Object.values(parameters).every((values) => values === null),
      pageSize,
      isPageSizeValid: pageSize >= LIMITS.pageSize.min && pageSize <= LIMITS.pageSize.max,
      cursor: textField(body, 'Cursor') ?? null,
      unauthorized: mostSaid(read.countries.filter((one) => !isAuthorized(caller, one, countries))),
      bodyMessages: [
        ...fieldMessages(DECLARED[content], body),
        ...read.faults.flatMap((fault) => (fault.kind === 'form' ? [fault.text] : [])),
      ],
    },
  }
}

/** Faults of one kind. */
export const faultsOf = <K extends Fault['kind']>(
  faults: readonly Fault[],
  kind: K,
): readonly Extract<Fault, { kind: K }>[] =>
  faults.filter((fault): fault is Extract<Fault, { kind: K }> => fault.kind === kind)

/** The step that the cursor stands for. With fields of a wrong type the cursor is not checked: its search is unknown. */
export const stepOf = (
  parts: SearchParts,
  binding: string,
  { cursor, bodyMessages }: SharedRequest,
): ChainStep =>
  bodyMessages.length > 0 ? { kind: 'go on', after: null } : chainStep(parts, binding, cursor ?? FIRST_CURSOR)

export const NO_OBJECT: readonly string[] = [BODY_MESSAGES.bodyInvalid.text]
