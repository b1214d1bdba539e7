/**
 * The service's listings, however they are laid out: batch files of the account, and live search parameters. Their
 * members are found in any letter case.
 */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parser } from 'stream-json'
import { pick } from 'stream-json/filters/pick.js'
import { streamArray } from 'stream-json/streamers/stream-array.js'
import type { Content } from '../../contract/objects.ts'
import { OPERATIONS } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { isObject } from '../../support/json-form.ts'
import { Retry } from './answer.ts'
import { acceptEncoding, checkText, parseWhole, streamedBody, wholeBody } from './bodies.ts'
import type { ServiceConnection } from './connection.ts'
import { answeredAt } from './service-clock.ts'

/** The first of the names that the object has, with its letter case left aside; null counts as absent. */
const looseMember = (value: unknown, ...names: readonly string[]): unknown => {
  if (!isObject(value)) return undefined
  const members = Object.entries(value)
  return names
    .map(
      (name) => members.find(([key, item]) => key.toLowerCase() === name.toLowerCase() && item !== null)?.[1],
    )
    .find((item) => item !== undefined)
}

/** The first of the names under which the object has a text that is not empty, as {@link looseMember}. */
const looseText = (value: unknown, ...names: readonly string[]): string | undefined => {
  const items = names.map((name) => looseMember(value, name))
  return items.find((item): item is string => typeof item === 'string' && item !== '')
}

/** As {@link looseMember}, where it is a whole number from 0, also in quotes. */
const looseCount = (value: unknown, ...names: readonly string[]): number | undefined => {
  const item = looseMember(value, ...names)
  const count = typeof item === 'string' && /^\d+$/.test(item) ? Number(item) : item
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** A file of the batch listing, whatever the listing's own spelling. */
export interface ListedBatchFile {
  readonly id: string
  /** The file's name, or the id where the listing has none. */
  readonly name: string
  /** Absent where the listing does not say it. */
  readonly content?: Content
  readonly countryCode?: string
  /** As listed. */
  readonly createdAt?: string
  readonly sizeBytes?: number
  /** Records in the file. */
  readonly count?: number
}

/** `Content` as companies or relations, in any spelling that begins so. */
const contentOf = (entry: unknown): Content | undefined => {
  const text = looseText(entry, 'Content', 'ContentType', 'Type')?.toLowerCase() ?? ''
  if (text.startsWith('compan')) return 'companies'
  return text.startsWith('relation') ? 'relations' : undefined
}

/** Names by which a listing may give the id. */
const ID_NAMES = ['BatchFileId', 'Id', 'FileId'] as const

/** Undefined where an entry has no id: nothing could be downloaded by it. */
const fileOf = (entry: unknown): ListedBatchFile | undefined => {
  const id = looseText(entry, ...ID_NAMES)
  if (id === undefined) return undefined
  const content = contentOf(entry)
  const countryCode = looseText(entry, 'CountryCode', 'Country')
  const createdAt = looseText(entry, 'CreatedAt', 'Created', 'CreatedDate')
  const sizeBytes = looseCount(entry, 'SizeInBytes', 'SizeBytes', 'Size')
  const count = looseCount(entry, 'Count', 'RecordCount')
  return {
    id,
    name: looseText(entry, 'FileName', 'Name') ?? id,
    ...(content !== undefined && { content }),
    ...(countryCode !== undefined && { countryCode }),
    ...(createdAt !== undefined && { createdAt }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(count !== undefined && { count }),
  }
}

/** Lets the first list through: the body itself, or one of its fields. */
const firstList = () => {
  let found = false
  return {
    found: () => found,
    filter: (path: readonly unknown[], token: { readonly name: string }): boolean => {
      if (found || token.name !== 'startArray' || path.length > 1) return false
      found = true
      return true
    },
  }
}

interface Listing {
  readonly files: readonly ListedBatchFile[]
  /** Names of entries that have no id; `''` for those without either. */
  readonly idless: readonly string[]
}

/** Entries are read in turn, so that a listing of many files is never objects all at once. */
const readListing = async (body: AsyncIterable<Buffer>, action: string): Promise<Listing> => {
  const files: ListedBatchFile[] = []
  const idless: string[] = []
  const list = firstList()
  const take = async (entries: AsyncIterable<{ readonly value: unknown }>): Promise<void> => {
    for await (const { value } of entries) {
      const file = fileOf(value)
      if (file) files.push(file)
      else idless.push(looseText(value, 'FileName', 'Name') ?? '')
    }
  }
  try {
    await pipeline(
      Readable.from(body, { objectMode: false }),
      parser.asStream(),
      pick.asStream({ filter: list.filter }),
      // An id may be a number beyond 2^53.
      streamArray.asStream({ numberAsString: true }),
      take,
    )
  } catch (error) {
    if (error instanceof ToolkitError || error instanceof Retry) throw error
    throw new Retry('the answer is no whole JSON document', { cause: error })
  }
  const problem = problemOf(list.found(), files.length, idless.length)
  if (problem === undefined) return { files, idless }
  throw new ToolkitError('ANSWER_INVALID', `${action}: ${problem}`, { kind: 'form' })
}

/** A list without a single id is no list of batch files: taken for an empty one, every load would find nothing new. */
const problemOf = (hasList: boolean, files: number, idless: number): string | undefined => {
  if (!hasList) return 'the answer has no list'
  return files > 0 || idless === 0
    ? undefined
    : `none of the ${idless} entries of its list has an id, expected one named ${ID_NAMES.join(', ')}`
}

export interface BatchListingOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the name of each entry that has no id, beside others that have one; `''` where it has no name either. */
  readonly onIdless?: ((name: string) => void) | undefined
}

/** @throws {ToolkitError} ANSWER_INVALID where there is no list in the answer, or one whose entries all have no id */
export const listBatchFiles = async (
  connection: ServiceConnection,
  { signal, onIdless }: BatchListingOptions = {},
): Promise<readonly ListedBatchFile[]> => {
  const action = 'Cannot list the batch files'
  let listing: Listing = { files: [], idless: [] }
  await connection.send(
    { method: 'GET', path: OPERATIONS.batchFiles.path, headers: { 'accept-encoding': acceptEncoding() } },
    {
      action,
      signal,
      receive: (head) => {
        // The days of its files are compared with it.
        answeredAt(action, head.headers, connection.clock)
        return streamedBody(
          head,
          { action, maxBytes: connection.maxListingBytes, token: connection.token },
          async (body) => {
            listing = await readListing(body, action)
          },
        )
      },
    },
  )
  for (const name of listing.idless) onIdless?.(name)
  return listing.files
}

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
const listIn = (body: unknown): readonly unknown[] | undefined => {
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
    { method: 'GET', path: OPERATIONS[operation].path, headers: { 'accept-encoding': acceptEncoding() } },
    {
      action,
      signal,
      receive: (head) =>
        wholeBody(
          head,
          { action, maxBytes: connection.maxListingBytes, token: connection.token, check: checkText },
          (body) => {
            const list = listIn(parseWhole(body))
            if (!list)
              throw new ToolkitError('ANSWER_INVALID', `${action}: the answer has no list`, { kind: 'form' })
            parameters = list.flatMap(parameterOf)
          },
        ),
    },
  )
  return parameters
}
