/** The answer of a search to the HTTP side: a page of documents with its pagination, or the messages of a refusal. */

import type { Pagination } from '../../../contract/limits.ts'
import type { Rates } from '../../../lake/rates/rates.ts'
import type { Embedder } from '../../ranking/embedder.ts'
import type { ServingIndex } from '../../serving-index/session-pool.ts'

export type Answer =
  /** `body` is the whole JSON body in pieces, in order. */
  | {
      readonly kind: 'page'
      readonly pagination: Pagination
      readonly body: readonly Buffer[]
      /** As of when the data is, of the snapshot that answers. */
      readonly asOf?: string
    }
  /** HTTP 400 with these messages, in the order of the contract's tables. */
  | Refused

export interface Refused {
  readonly kind: 'refused'
  readonly messages: readonly string[]
  /** Set where the cursor is none of this search over this snapshot: it may be one over another. */
  readonly isCursorInvalid?: true
}

/** Parts that a search needs. */
export interface SearchParts {
  readonly index: ServingIndex
  readonly rates: Rates
  readonly embedder?: Embedder | undefined
  /** The codes that a caller of every country may name, in upper case: what `namedCountries` gives. */
  readonly countries: ReadonlySet<string>
  /** Secret that signs cursors, at least 32 bytes. */
  readonly cursorKey: Buffer
  /** Companies that one chain may deliver. */
  readonly cursorCap: number
  /** Longest time of one query, in milliseconds. */
  readonly queryTimeoutMs: number
}

/** The body of a page: `{"<name>":[…]}` around documents that are bytes already. */

const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

export const pageBody = (name: string, documents: readonly (readonly Buffer[])[]): readonly Buffer[] => [
  Buffer.from(`{${JSON.stringify(name)}:[`),
  ...documents.flatMap((pieces, at) => (at === 0 ? pieces : [COMMA, ...pieces])),
  END,
]

/** Pages that so many records fill. */
export const totalPages = (totalCount: number, pageSize: number): number => Math.ceil(totalCount / pageSize)
