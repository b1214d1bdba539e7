/** The file of faults (`--faults`). Its form: docs/serving.md. */

import {
  type Fields,
  FormError,
  listAt,
  memberAt,
  objectAt,
  positiveAt,
  readStrictJson,
  textAt,
} from '../strict-json.ts'
import {
  FAULT_NAMES,
  FAULT_TARGETS,
  type FaultRule,
  optionsOf,
  type Selection,
  stageOf,
} from './fault-kinds.ts'

const RULE_FIELDS = [
  'on',
  'fault',
  'at',
  'every',
  'from',
  'times',
  'retryAfter',
  'bytesPerSecond',
  'location',
]
const PAGED = ['companies', 'relations']

const selectionAt = (place: string, { at, every, from }: Fields): Selection => {
  const given = [at, every, from].filter((value) => value !== undefined).length
  if (given > 1) throw new FormError(place, 'only one of "at", "every" and "from"')
  if (at !== undefined) {
    const numbers = listAt(`${place}.at`, at).map((number, no) =>
      positiveAt(`${place}.at[${no}]`, number, { whole: true }),
    )
    return { kind: 'at', numbers }
  }
  if (every !== undefined)
    return { kind: 'every', step: positiveAt(`${place}.every`, every, { whole: true }) }
  return { kind: 'from', first: from === undefined ? 1 : positiveAt(`${place}.from`, from, { whole: true }) }
}

const retryAfterAt = (place: string, value: unknown): string =>
  typeof value === 'number'
    ? String(positiveAt(place, value, { whole: true }))
    : textAt(place, value, /^[ -~]+$/, 'seconds, or a date as text')

const ruleAt = (place: string, value: unknown): FaultRule => {
  const rule = objectAt(place, value, RULE_FIELDS)
  const on = memberAt(`${place}.on`, rule.on, FAULT_TARGETS)
  const fault = memberAt(`${place}.fault`, rule.fault, FAULT_NAMES)
  const { times, retryAfter, bytesPerSecond, location } = rule
  for (const option of ['retryAfter', 'bytesPerSecond', 'location'])
    if (rule[option] !== undefined && !optionsOf(fault).includes(option))
      throw new FormError(`${place}.${option}`, `no such field with fault "${fault}"`)
  const stage = stageOf(fault)
  if ((stage === 'page' || stage === 'last page') && !PAGED.includes(on))
    throw new FormError(`${place}.on`, `companies or relations with fault "${fault}"`)
  if (stage === 'head' && on !== 'batchFile')
    throw new FormError(`${place}.on`, `batchFile with fault "${fault}"`)
  return {
    on,
    fault,
    selection: selectionAt(place, rule),
    ...(times !== undefined && { times: positiveAt(`${place}.times`, times, { whole: true }) }),
    ...(retryAfter !== undefined && { retryAfter: retryAfterAt(`${place}.retryAfter`, retryAfter) }),
    ...(bytesPerSecond !== undefined && {
      bytesPerSecond: positiveAt(`${place}.bytesPerSecond`, bytesPerSecond),
    }),
    ...(location !== undefined && {
      location: textAt(`${place}.location`, location, /^https?:\/\/[!-~]+$/, 'an address'),
    }),
  }
}

/** Rules of a document of faults. @throws {FormError} */
export const decodeFaults = (document: unknown): readonly FaultRule[] =>
  listAt('faults', objectAt('the document', document, ['faults']).faults).map((rule, at) =>
    ruleAt(`faults[${at}]`, rule),
  )

/** Rules of a file. @throws {ToolkitError} FAULTS_UNREADABLE naming the place */
export const readFaults = (path: string): Promise<readonly FaultRule[]> =>
  readStrictJson(path, 'FAULTS_UNREADABLE', decodeFaults)
