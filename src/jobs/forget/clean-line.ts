/** What becomes of a quarantined line. Pure. */

import { type IsForgotten, ownerOf, parsedRecord } from '../../check/quarantine/refuse-lines.ts'
import type { Content } from '../../contract/objects.ts'
import { type ForgottenEntities, withoutForgotten } from './clean-record.ts'

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

export interface Forgetting extends ForgottenEntities {
  readonly isCompany: IsForgotten
}

/** What is left of a readable line of others; `undefined`: nobody can tell. */
const restOf = (content: Content, raw: string, forgetting: Forgetting): string | undefined => {
  try {
    const { text, left } = withoutForgotten(content, raw, forgetting)
    return left > 0 || forgetting.identifiers.standIn(text) ? undefined : text
  } catch {
    // It is nested deeper than any record.
    return undefined
  }
}

export const cleanLine = (
  { content, raw, raw_base64: base64, reason }: LineTexts,
  forgetting: Forgetting,
): CleanedLine => {
  const { standIn, idStandsIn } = forgetting.identifiers
  const bytes = Buffer.from(base64 ?? '', 'base64')
  const texts = raw === null ? [bytes.toString('utf8'), bytes.toString('latin1')] : [raw]
  const owner = raw === null || parsedRecord(raw) === undefined ? undefined : ownerOf(content, raw)
  if (owner !== undefined && forgetting.isCompany(owner)) return { kind: 'gone' }
  if (raw === null || owner === undefined)
    return [...texts, reason].some((text) => standIn(text) || idStandsIn(text))
      ? { kind: 'cleared' }
      : { kind: 'same' }
  const rest = restOf(content, raw, forgetting)
  if (rest === undefined || standIn(reason)) return { kind: 'cleared' }
  return rest === raw ? { kind: 'same' } : { kind: 'changed', raw: rest }
}
