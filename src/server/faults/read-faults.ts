/** The file of faults (`--faults`). Its form: docs/serving.md. */

import {
  anything,
  FormError,
  type FormOf,
  oneOf,
  optional,
  positive,
  someOf,
  strictObject,
  textLike,
  wholePositive,
} from '../../support/json-form.ts'
import { readStrictJson } from '../access/read-strict-json.ts'
import { FAULT_NAMES, faultOf } from './fault-kinds.ts'
import { FAULT_TARGETS, type FaultRule, type Selection } from './fault-rules.ts'

const RULE = strictObject({
  on: oneOf(FAULT_TARGETS),
  fault: oneOf(FAULT_NAMES),
  at: optional(someOf(wholePositive)),
  every: optional(wholePositive),
  from: optional(wholePositive),
  times: optional(wholePositive),
  retryAfter: optional(anything),
  bytesPerSecond: optional(positive),
  location: optional(textLike(/^https?:\/\/[!-~]+$/, 'an address')),
})
const DOCUMENT = strictObject({ faults: someOf(anything) })
const HTTP_DATE = textLike(/^[ -~]+$/, 'seconds, or a date as text')
const OPTIONS = ['retryAfter', 'bytesPerSecond', 'location'] as const
const PAGED = ['companies', 'relations']

type Rule = FormOf<typeof RULE>

const selectionOf = (place: string, { at, every, from }: Rule): Selection => {
  const given = [at, every, from].filter((value) => value !== undefined).length
  if (given > 1) throw new FormError(place, 'only one of "at", "every" and "from"')
  if (at !== undefined) return { kind: 'at', numbers: at }
  if (every !== undefined) return { kind: 'every', step: every }
  return { kind: 'from', first: from ?? 1 }
}

const retryAfterAt = (place: string, value: unknown): string =>
  typeof value === 'number' ? String(wholePositive(value, place)) : HTTP_DATE(value, place)

const ruleAt = (place: string, value: unknown): FaultRule => {
  const rule = RULE(value, place)
  const { on, fault, times, retryAfter, bytesPerSecond, location } = rule
  const { stage, options = [] } = faultOf(fault)
  for (const option of OPTIONS)
    if (rule[option] !== undefined && !options.includes(option))
      throw new FormError(`${place}.${option}`, `no such field with fault "${fault}"`)
  if ((stage === 'page' || stage === 'last page') && !PAGED.includes(on))
    throw new FormError(`${place}.on`, `companies or relations with fault "${fault}"`)
  if (stage === 'head' && on !== 'batchFile')
    throw new FormError(`${place}.on`, `batchFile with fault "${fault}"`)
  return {
    on,
    fault,
    selection: selectionOf(place, rule),
    ...(times !== undefined && { times }),
    ...(retryAfter !== undefined && { retryAfter: retryAfterAt(`${place}.retryAfter`, retryAfter) }),
    ...(bytesPerSecond !== undefined && { bytesPerSecond }),
    ...(location !== undefined && { location }),
  }
}

/** Rules of a document of faults. @throws {FormError} */
export const decodeFaults = (document: unknown): readonly FaultRule[] =>
  DOCUMENT(document, 'the document').faults.map((rule, at) => ruleAt(`faults[${at}]`, rule))

/** Rules of a file. @throws {ToolkitError} FAULTS_UNREADABLE naming the place */
export const readFaults = (path: string): Promise<readonly FaultRule[]> =>
  readStrictJson(path, 'FAULTS_UNREADABLE', decodeFaults)
