/** The live search parameters of a content, however the service's listing is laid out. */

import type { Content } from '../../contract/objects.ts'
import { OPERATIONS } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { isObject } from '../../support/json-form.ts'
import { checkText } from './check-text.ts'
import type { ServiceConnection } from './connection.ts'
import { ACCEPT_ENCODING } from './content-codings.ts'
import { looseMember, looseText } from './loose-members.ts'
import { parseWhole, wholeBody } from './whole-body.ts'

/** A live search parameter; all but the name may be missing. */
export interface ListedParameter {
  readonly name: string
  readonly datatype?: string
  readonly description?: string
  readonly filterType?: string
  readonly sortable?: boolean
  readonly values?: readonly { readonly value: string | number; readonly name?: string }[]
}

const listedValue = (entry: unknown): NonNullable<ListedParameter['values']> => {
  if (typeof entry === 'string' || typeof entry === 'number') return [{ value: entry }]
  const value = looseMember(entry, 'Value', 'Code', 'Id')
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const name = looseText(entry, 'Name', 'Description', 'Text')
  return [{ value, ...(name !== undefined && { name }) }]
}

const parameterOf = (entry: unknown): ListedParameter[] => {
  if (typeof entry === 'string') return [{ name: entry }]
  const name = looseText(entry, 'ParameterName', 'Name')
  if (name === undefined) return []
  const datatype = looseText(entry, 'Datatype', 'Type')
  const description = looseText(entry, 'Description')
  const filterType = looseText(entry, 'FilterType')
  const sortable = looseMember(entry, 'IsSortable', 'Sortable')
  const values = looseMember(entry, 'Values')
  return [
    {
      name,
      ...(datatype !== undefined && { datatype }),
      ...(description !== undefined && { description }),
      ...(filterType !== undefined && { filterType }),
      ...(typeof sortable === 'boolean' && { sortable }),
      ...(Array.isArray(values) && { values: values.flatMap(listedValue) }),
    },
  ]
}

/** The body itself, or the first field of it that is a list. */
const firstList = (body: unknown): readonly unknown[] | undefined => {
  if (Array.isArray(body)) return body
  return isObject(body) ? Object.values(body).find(Array.isArray) : undefined
}

/** @throws {ToolkitError} ANSWER_INVALID where there is no list in the answer */
export const listParameters = async (
  connection: ServiceConnection,
  content: Content,
  signal?: AbortSignal,
): Promise<readonly ListedParameter[]> => {
  const action = `Cannot list the search parameters of ${content}`
  const operation = content === 'companies' ? 'companiesSearchParameters' : 'relationsSearchParameters'
  let parameters: readonly ListedParameter[] = []
  await connection.send(
    { method: 'GET', path: OPERATIONS[operation].path, headers: { 'accept-encoding': ACCEPT_ENCODING } },
    {
      action,
      signal,
      receive: (head) =>
        wholeBody(
          head,
          { action, maxBytes: connection.maxBodyBytes, token: connection.token, check: checkText },
          (body) => {
            const list = firstList(parseWhole(body))
            if (!list)
              throw new ToolkitError('ANSWER_INVALID', `${action}: the answer has no list`, { kind: 'form' })
            parameters = list.flatMap(parameterOf)
          },
        ),
    },
  )
  return parameters
}
