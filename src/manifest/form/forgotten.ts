/**
 * The manifest's record of forgotten companies and persons: receipts without personal data, and marks of the ids by which a
 * later load is refused, and of names that are known though no drift names them any more. A mark is an HMAC with a random
 * key of the lake: it cannot be read back, but a person with access to the lake can test an id or a name.
 */

import { createHmac } from 'node:crypto'
import type { RefusedIds } from '../../core/lines.ts'
import { anyText, count, list, oneOf, optional, shapeOf } from '../../support/json-form.ts'
import type { RandomBytes } from '../../support/run-ids.ts'

/** Files of one kind that held something of the forgotten. */
export interface ForgottenFiles {
  /** A table, or `quarantine`. */
  readonly kind: string
  readonly files: number
  /** Rows that were removed or changed. */
  readonly rows: number
}

/** The record of one forget. */
export interface ForgetReceipt {
  /** The snapshot that it made: those before are gone. */
  readonly snapshot: number
  /** ISO 8601, UTC. */
  readonly time: string
  readonly run: string
  /** How many ids were asked for. */
  readonly companies: number
  readonly persons: number
  readonly files: readonly ForgottenFiles[]
  /** Records of others that lost their unknown fields; absent in receipts of earlier releases. */
  readonly recordsStripped?: number | undefined
  /** Lines in the quarantine that lost their text. */
  readonly linesCleared: number
  /** The treatment of the same ids in a later load. */
  readonly later: 'refused' | 'allowed'
}

/** Marks of ids that a load leaves out. */
interface Refusals {
  /** Random, in hex. */
  readonly key: string
  readonly companies: readonly string[]
  readonly persons: readonly string[]
}

/** Marks of names that the contract does not know, of loads whose drift a forget has dropped. */
interface KnownNames {
  /** Random, in hex. */
  readonly key: string
  readonly marks: readonly string[]
}

/** Fields of the root of a snapshot; all absent in a lake without a forget. */
export interface Forgotten {
  readonly knownNames?: KnownNames
  readonly forgotten?: readonly ForgetReceipt[]
  readonly refusals?: Refusals
}

export const FORGOTTEN_CHECKS = {
  forgotten: optional(
    list(
      shapeOf<ForgetReceipt>({
        ...{ snapshot: count, time: anyText, run: anyText, companies: count, persons: count },
        files: list(shapeOf<ForgottenFiles>({ kind: anyText, files: count, rows: count })),
        ...{ recordsStripped: optional(count), linesCleared: count },
        later: oneOf(['refused', 'allowed']),
      }),
    ),
  ),
  knownNames: optional(shapeOf<KnownNames>({ key: anyText, marks: list(anyText) })),
  refusals: optional(shapeOf<Refusals>({ key: anyText, companies: list(anyText), persons: list(anyText) })),
}

const KEY_BYTES = 32
/** 128 bits. */
const MARK_CHARACTERS = 22
/** 48 bits: of a few thousand names two are hardly ever taken for one another. */
const NAME_CHARACTERS = 8

type Kind = 'company' | 'person'

const hmacOf = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64url')

const newKey = (random: RandomBytes): string => Buffer.from(random(KEY_BYTES)).toString('hex')

const markOf = (key: string, kind: Kind, id: bigint): string =>
  hmacOf(key, `${kind} ${id}`).slice(0, MARK_CHARACTERS)

const nameMark = (key: string, name: string): string => hmacOf(key, name).slice(0, NAME_CHARACTERS)

/** The known names after the drift that named some of them was dropped. @param names as `nameKey` */
export const knownWith = (
  before: KnownNames | undefined,
  names: readonly string[],
  random: RandomBytes,
): Pick<Forgotten, 'knownNames'> => {
  if (before === undefined && names.length === 0) return {}
  const { key, marks } = before ?? { key: newKey(random), marks: [] }
  const all = new Set([...marks, ...names.map((one) => nameMark(key, one))])
  return { knownNames: { key, marks: [...all].sort() } }
}

/** Whether a load has had a name whose drift was dropped. */
export const knowsName = ({ knownNames }: Forgotten): ((name: string) => boolean) => {
  if (knownNames === undefined) return () => false
  const marks = new Set(knownNames.marks)
  return (name) => marks.has(nameMark(knownNames.key, name))
}

export interface ForgottenIds {
  readonly companies: ReadonlySet<bigint>
  readonly persons: ReadonlySet<bigint>
}

/** The refusals of a lake when some ids are refused, or allowed, from now on. */
export const nextRefusals = (
  before: Refusals | undefined,
  ids: ForgottenIds,
  later: ForgetReceipt['later'],
  random: RandomBytes,
): Refusals | undefined => {
  const key = before?.key ?? newKey(random)
  const next = (kind: Kind, marks: readonly string[] = [], own: ReadonlySet<bigint>): readonly string[] => {
    const asked = [...own].map((id) => markOf(key, kind, id))
    const kept = marks.filter((mark) => !asked.includes(mark))
    // In no order of the ids.
    return later === 'refused' ? [...kept, ...asked].sort() : kept
  }
  const companies = next('company', before?.companies, ids.companies)
  const persons = next('person', before?.persons, ids.persons)
  return companies.length + persons.length === 0 ? undefined : { key, companies, persons }
}

/** The ids that a load leaves out; `undefined` for none. */
export const refusedBy = (refusals: Refusals | undefined): RefusedIds | undefined => {
  if (refusals === undefined || refusals.companies.length + refusals.persons.length === 0) return undefined
  const { key } = refusals
  const [companies, persons] = [new Set(refusals.companies), new Set(refusals.persons)]
  const isCompany = (id: bigint): boolean => companies.has(markOf(key, 'company', id))
  return {
    isCompany,
    isEntity: (id) => isCompany(id) || (persons.size > 0 && persons.has(markOf(key, 'person', id))),
  }
}

/** The last snapshot that a forget has made; those before it are gone. 0: none. */
export const forgottenBefore = ({ forgotten = [] }: Forgotten): number =>
  Math.max(0, ...forgotten.map(({ snapshot }) => snapshot))
