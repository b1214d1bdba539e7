/** The form of a fault: where it sets in, and its effect there. */

import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Further fields of a rule. */
export interface FaultDetails {
  readonly retryAfter?: string
  readonly bytesPerSecond?: number
  readonly location?: string
}

/** An answer as it would be. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  readonly totalBytes: number
  readonly chunks: AsyncIterable<Buffer>
}

/** A page as it is sent: its pagination as the header says it, and its body. */
export interface SentPage {
  readonly pagination: string
  readonly body: unknown
}

/** In place of the answer. */
interface Instead {
  readonly stage: 'instead'
  readonly send: (reply: FastifyReply, details: FaultDetails) => FastifyReply
}

/** On the bytes of the body: writes the answer past the framework. */
interface OnBody {
  readonly stage: 'body'
  readonly write: (
    raw: ServerResponse,
    answer: WholeAnswer,
    details: FaultDetails,
    signal: AbortSignal,
  ) => Promise<void>
}

/** On the request for a batch file, and on the head of its answer. */
interface OnHead {
  readonly stage: 'head'
  readonly onRequest: (request: FastifyRequest) => void
  readonly onAnswer: (reply: FastifyReply) => void
}

/** In place of a page, made from the one before it in its chain. */
interface OnPage {
  readonly stage: 'page'
  readonly after: (before: SentPage) => SentPage
}

/** On the last page of a chain only: its pagination, from that without a Cursor. */
interface OnLastPage {
  readonly stage: 'last page'
  readonly end: (others: object) => object
}

export type Fault = (Instead | OnBody | OnHead | OnPage | OnLastPage) & {
  /** The effect, for the documentation. */
  readonly about: string
  /** Fields that a rule of it may have. */
  readonly options?: readonly (keyof FaultDetails)[]
}
