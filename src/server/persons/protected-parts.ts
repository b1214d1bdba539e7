/** The objects of a record that are of protected persons. */

import { ALWAYS_MASKED, MASKED_WITHOUT_ACCESS } from '../../contract/authorization.ts'
import { isMasked, PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { type Identity, isKey, personIdentity } from './identity.ts'
import { type RecordPart, valuesNamed } from './record-parts.ts'

/** The persons whom any current record protects, by all that they are known by. */
export interface KnownPersons {
  readonly ids: ReadonlySet<string>
  /** As `numberKey` gives them. */
  readonly numbers: ReadonlySet<string>
  readonly births: ReadonlySet<string>
}

export const NOBODY: KnownPersons = { ids: new Set(), numbers: new Set(), births: new Set() }

const MARKING: ReadonlySet<string> = new Set(
  [...ALWAYS_MASKED, ...MASKED_WITHOUT_ACCESS].map((name) => name.toLowerCase()),
)
const MASK_TEXT = JSON.stringify(PROTECTED_IDENTITY)

/** Whether the mask stands in a value, alone or in a list: what the loader uses as the marker. */
const holdsMask = (value: unknown): boolean =>
  value === PROTECTED_IDENTITY ||
  (typeof value === 'object' && value !== null && JSON.stringify(value).includes(MASK_TEXT))

/** Anything but a clear no protects; data that came masked from the service does too. */
const isMarked = ({ object, kind, above }: RecordPart): boolean => {
  const isOfRecord = kind === 'record' || above?.kind === 'record'
  if (kind === 'part' && !isOfRecord) return false
  const said = valuesNamed(object, 'IsProtected').filter((mark) => mark !== null)
  if (said.some((mark) => mark !== false)) return true
  const isMarking = said.length > 0 ? isMasked : holdsMask
  return (
    (kind === 'entity' || kind === 'unknown') &&
    Object.keys(object).some((name) => MARKING.has(name.toLowerCase()) && isMarking(object[name]))
  )
}

/** Keys that an identity is found by, and those by which it finds others. */
const soughtKeys = ({ id, ids, numbers, said, hasNational, birth }: Identity): readonly string[] => [
  ...ids.map((one) => `id ${one}`),
  ...new Set([...numbers, ...said].map((number) => `number ${number}`)),
  // Who has an id of another is another, of the same name and day.
  ...(id === undefined && !hasNational && birth !== undefined ? [`birth ${birth}`] : []),
]
const givenKeys = ({ id, numbers, birth, isCompany }: Identity): readonly string[] => [
  ...(id === undefined ? [] : [`id ${id}`]),
  ...(isCompany ? [] : numbers.map((number) => `number ${number}`)),
  ...(birth === undefined ? [] : [`birth ${birth}`]),
]

interface Known extends Identity {
  readonly part: RecordPart
}

/** The numbers of the nearest object around that has some. */
const numbersAround = (all: ReadonlyMap<RecordPart, Known>, part: RecordPart): readonly string[] => {
  for (let above = part.above; above !== undefined; above = above.above) {
    const numbers = all.get(above)?.numbers ?? []
    if (numbers.length > 0) return numbers
  }
  return []
}

/** Whether an object is about somebody else than the one that holds it: else it is of the same person, an earlier form too. */
const isOfOther = (
  all: ReadonlyMap<RecordPart, Known>,
  { part, id, isSelf, numbers, isCompany }: Known,
): boolean => {
  if (part.kind === 'part') return false
  // The relations of a company are of others, whoever owns it.
  if (part.kind === 'entity' && part.above?.kind === 'record') return true
  if ((id !== undefined && isSelf) || isCompany) return true
  if (part.kind === 'entity' || numbers.length === 0) return false
  const around = numbersAround(all, part)
  return around.length > 0 && !numbers.some((number) => around.includes(number))
}

/** The parts that are protected: who is so in one place is so in all of the record. */
export const protectedParts = (
  parts: readonly RecordPart[],
  known: KnownPersons,
): ReadonlySet<RecordPart> => {
  const all = new Map(parts.map((part) => [part, { ...personIdentity(part), part }]))
  const bySought = new Map<string, Known[]>()
  const inside = new Map<RecordPart, Known[]>()
  const add = <Key>(map: Map<Key, Known[]>, key: Key, one: Known): void => {
    const list = map.get(key)
    if (list) list.push(one)
    else map.set(key, [one])
  }
  for (const one of all.values()) {
    for (const key of soughtKeys(one)) add(bySought, key, one)
    if (one.part.above !== undefined) add(inside, one.part.above, one)
  }
  const isKnown = ({ part, id, ids, numbers, said, hasNational, birth }: Known): boolean =>
    ids.some((one) => known.ids.has(one)) ||
    [...numbers, ...said].some((number) => known.numbers.has(number)) ||
    (id === undefined && !hasNational && birth !== undefined && known.births.has(birth)) ||
    (part.kind === 'unknown' && isKey(part.name, known))
  // A set is walked with what is added to it meanwhile.
  const found = new Set<RecordPart>()
  for (const one of all.values()) if (isMarked(one.part) || isKnown(one)) found.add(one.part)
  for (const part of found) {
    const one = all.get(part)
    if (one === undefined) continue
    for (const key of givenKeys(one)) for (const same of bySought.get(key) ?? []) found.add(same.part)
    for (const inner of inside.get(part) ?? []) if (!isOfOther(all, inner)) found.add(inner.part)
  }
  return found
}
