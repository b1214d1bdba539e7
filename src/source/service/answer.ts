/** Answers of the service as they come, and what one attempt of a request comes to. */

import type { ToolkitError } from '../../core/errors.ts'

/** Header names are lower case; a doubled header is an array. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface AnswerHead {
  readonly status: number
  readonly headers: AnswerHeaders
}

/** Takes the body of an accepted answer. Throws {@link Retry} where the answer is to be asked for again. */
export interface Receiver {
  /** A promise holds the next chunk back until it is fulfilled. */
  readonly write: (chunk: Buffer) => Promise<void> | undefined
  /** The body is over, as long as its header said. */
  readonly end: () => Promise<void>
  /** The body will not come to its end. */
  readonly brokenOff?: () => void
  /** Whether this answer brought something that stays, though its body broke off. @default no */
  readonly gained?: () => boolean
}

/** A request as the policy sees it: it may be sent several times. */
export interface Call {
  /** `Cannot fetch a page of …`: how the error's message begins. */
  readonly action: string
  readonly signal?: AbortSignal | undefined
  /** Statuses whose answers `receive` takes. @default 200 */
  readonly statuses?: readonly number[]
  /** Further headers of the next attempt. */
  readonly headers?: () => Readonly<Record<string, string>>
  /** Called for each answer of such a status. May throw {@link Retry} or a final ToolkitError. */
  readonly receive: (head: AnswerHead) => Receiver | Promise<Receiver>
  /** The error of a final status other than the usual ones. */
  readonly refusal?: (body: string) => ToolkitError
}

/** Thrown by a receiver: this answer is not whole or not sound, ask again. */
export class Retry extends Error {
  override readonly name = 'Retry'
}

/** The outcome of one attempt. */
export type Outcome =
  | { readonly kind: 'done'; readonly head: AnswerHead }
  | {
      readonly kind: 'transient'
      readonly reason: string
      readonly cause?: unknown
      readonly gained: boolean
    }
  | {
      readonly kind: 'throttled'
      readonly status: number
      /** Absent where the answer names none; `guessed` where it names one that cannot be read. */
      readonly pause:
        | { readonly ms: number; readonly retryAfter: string; readonly guessed?: true }
        | undefined
    }
  | { readonly kind: 'final'; readonly error: unknown }
