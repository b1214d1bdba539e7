/** The faults that the server can inject, and the rules that say when. */

import type { Operation } from '../../contract/requests.ts'

/**
 * Where a fault sets in: `instead` of the answer; on the bytes of the `body`; on the `head` of a batch file's answer;
 * on a `page`, or on the `last page` of a chain only.
 */
type Stage = 'instead' | 'body' | 'head' | 'page' | 'last page'
interface FaultForm {
  readonly stage: Stage
  readonly about: string
  /** Further fields of a rule. */
  readonly options?: readonly ('retryAfter' | 'bytesPerSecond' | 'location')[]
}

export const FAULT_KINDS = {
  '429': {
    stage: 'instead',
    about: '429, with `retryAfter` (seconds, or a date as text) where given',
    options: ['retryAfter'],
  },
  '500': { stage: 'instead', about: '500 without a body' },
  '502': { stage: 'instead', about: '502 with a page of HTML, as a proxy sends it' },
  '503': { stage: 'instead', about: '503, with `retryAfter` where given', options: ['retryAfter'] },
  reset: { stage: 'instead', about: 'the connection is reset before the answer' },
  resetInBody: { stage: 'body', about: 'the connection is reset after half of the body' },
  truncated: { stage: 'body', about: 'the connection ends after half of the announced Content-Length' },
  truncatedUnannounced: { stage: 'body', about: 'half of the body without Content-Length, ended cleanly' },
  stall: { stage: 'instead', about: 'no answer ever; the connection stays open' },
  drip: {
    stage: 'body',
    about: 'the body comes at `bytesPerSecond` (default 1000)',
    options: ['bytesPerSecond'],
  },
  halfDocument: {
    stage: 'body',
    about: '200 with half of the body and a Content-Length that says it is all',
  },
  duplicatePage: { stage: 'page', about: "the previous page's answer again, in place of the next" },
  emptyLastPage: { stage: 'last page', about: 'a cursor on the last page, which leads to an empty one' },
  omittedCursor: { stage: 'last page', about: 'no Cursor on the last page, in place of null' },
  expiredCursor: { stage: 'instead', about: '400 with the message of a cursor that is not valid' },
  changedETag: {
    stage: 'head',
    about: 'the file goes by another ETag; an If-Range with the right one fails',
  },
  damaged: {
    stage: 'body',
    about: 'one byte of the body is another; length, ETag and digest as of the good one',
  },
  redirect: {
    stage: 'instead',
    about: '307 to another host, or to `location`',
    options: ['location'],
  },
} as const satisfies Readonly<Record<string, FaultForm>>

export type FaultKind = keyof typeof FAULT_KINDS
export const FAULT_NAMES = Object.keys(FAULT_KINDS) as readonly FaultKind[]

/** The faults of a stage: a table of what makes them has to name each. */
export type FaultOf<S extends Stage> = {
  [K in FaultKind]: (typeof FAULT_KINDS)[K]['stage'] extends S ? K : never
}[FaultKind]

export const stageOf = (fault: FaultKind): Stage => FAULT_KINDS[fault].stage
export const optionsOf = (fault: FaultKind): readonly string[] => {
  const form: FaultForm = FAULT_KINDS[fault]
  return form.options ?? []
}

/** What a rule may be about; both listings of parameters are one. */
export const FAULT_TARGETS = ['companies', 'relations', 'batchFiles', 'batchFile', 'parameters'] as const
export type FaultTarget = (typeof FAULT_TARGETS)[number]

export const targetOf = (operation: Operation): FaultTarget =>
  operation === 'companiesSearchParameters' || operation === 'relationsSearchParameters'
    ? 'parameters'
    : operation

/** Which of the matching requests, counted from 1. */
export type Selection =
  | { readonly kind: 'at'; readonly numbers: readonly number[] }
  | { readonly kind: 'every'; readonly step: number }
  | { readonly kind: 'from'; readonly first: number }

export interface FaultRule {
  readonly on: FaultTarget
  readonly fault: FaultKind
  readonly selection: Selection
  /** Most times that it happens. */
  readonly times?: number
  readonly retryAfter?: string
  readonly bytesPerSecond?: number
  readonly location?: string
}

export type RuleOf<S extends Stage> = FaultRule & { readonly fault: FaultOf<S> }
export const isOfStage = <S extends Stage>(rule: FaultRule, stage: S): rule is RuleOf<S> =>
  stageOf(rule.fault) === stage
