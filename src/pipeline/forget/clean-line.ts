/** What becomes of a quarantined line. Pure. */

import type { Content } from '../../contract/objects.ts'
import { ownerOf, parsedRecord } from '../../load/record-owner.ts'
import { type IsForgotten, withoutEntities } from '../../load/without-entities.ts'
import type { Identifiers } from './identifiers.ts'

/** A row of the quarantine, as far as it matters here. */
export interface LineTexts {
  readonly content: Content
  readonly raw: string | null
  readonly raw_base64: string | null
  readonly reason: string
}

/** `gone`: the line was of a company that is forgotten. `cleared`: nobody can tell, so its text goes. */
export type CleanedLine =
  | { readonly kind: 'same' | 'gone' | 'cleared' }
  | { readonly kind: 'changed'; readonly raw: string }

export interface Forgetting {
  readonly isCompany: IsForgotten
  readonly isEntity: IsForgotten
  readonly identifiers: Identifiers
}

export const cleanLine = (
  { content, raw, raw_base64: base64, reason }: LineTexts,
  { isCompany, isEntity, identifiers }: Forgetting,
): CleanedLine => {
  const { standIn, idStandsIn } = identifiers
  const bytes = Buffer.from(base64 ?? '', 'base64')
  const texts = raw === null ? [bytes.toString('utf8'), bytes.toString('latin1')] : [raw]
  const owner = raw === null || parsedRecord(raw) === undefined ? undefined : ownerOf(content, raw)
  if (owner !== undefined && isCompany(owner)) return { kind: 'gone' }
  if (raw === null || owner === undefined)
    return [...texts, reason].some((text) => standIn(text) || idStandsIn(text))
      ? { kind: 'cleared' }
      : { kind: 'same' }
  const rest = content === 'relations' ? withoutEntities(raw, isEntity) : raw
  if (standIn(rest) || standIn(reason)) return { kind: 'cleared' }
  // Without entities to take out the line stays byte by byte.
  const before = content === 'relations' ? withoutEntities(raw, () => false) : raw
  return rest === before ? { kind: 'same' } : { kind: 'changed', raw: rest }
}
