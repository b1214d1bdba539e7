/** Whether a value that the contract does not know is about the forgotten. Pure. */

import { type Identifiers, LEAST_DIGITS } from './identifiers.ts'

/**
 * `theirs`: an id or national id, and nothing else; `told`: a text that has their national id; `name`: a name and nothing else;
 * `unsure`: a text that has a name, a number that is their id or something else; `other`: neither.
 */
export type Verdict = 'theirs' | 'told' | 'name' | 'unsure' | 'other'

/** Names of members that have an id. */
const ID_NAMES: readonly RegExp[] = [
  /(?:^|[^A-Za-z])ids?$/i,
  /[a-z0-9](?:Id|ID)s?$/,
  /(?:internal|person|company|entity|owner|parent)_?ids?$/i,
]
/** Words in such a name by which the id is of a company or person, and no code of something. */
const OF_SOMEBODY =
  /internal|person|company|entity|owner|parent|child|relat|holder|director|member|signator|ubo|contact|part(?:y|ner)|subject|customer|employee|chair|ceo|auditor/i
/** Members whose number is one of a register. */
const OF_REGISTER = /org|national|identi|registration|vat|tax|ssn|(?:no|nr|number|nummer|id|ids)$/i
/** A shorter number of a register may be any number where no name of a member says what it is. */
const CERTAIN_CHARACTERS = 8

/** Members that say who an object is about. */
export const IDENTITY = /^(?:internalid|orgno|nationalidentificationnumber)$/i
/** Members that have the name of whom an object is about. */
export const OWN_NAME = /name$/i
const LEAST_NAME = 5

const isIdName = (name: string): boolean => ID_NAMES.some((one) => one.test(name))

const idVerdict = (name: string, digits: string): Verdict =>
  isIdName(name) && (digits.length >= LEAST_DIGITS || OF_SOMEBODY.test(name)) ? 'theirs' : 'unsure'

/** A whole number as JSON has it, or as a text has it: its digits. */
const digitsOf = (text: string): string | undefined => /^\s*(\d+)(?:\.0+)?\s*$/.exec(text)?.[1]

/** @param name of the member that has the value, or whose list it stands in @param text a text, or a number as it stands */
export const judgeValue = (name: string, text: string, identifiers: Identifiers): Verdict => {
  const digits = digitsOf(text)?.replace(/^0+(?=\d)/, '')
  if (digits !== undefined && identifiers.isId(digits)) return idVerdict(name, digits)
  if (identifiers.isNationalId(text))
    return text.length >= CERTAIN_CHARACTERS || OF_REGISTER.test(name) ? 'theirs' : 'unsure'
  if (identifiers.isName(text) && (text.length >= LEAST_NAME || OWN_NAME.test(name))) return 'name'
  const { name: hasName, nationalId } = identifiers.standing(text)
  if (nationalId) return 'told'
  return hasName || identifiers.idStandsIn(text, LEAST_DIGITS) ? 'unsure' : 'other'
}

/** The same of a member's own name: an object may be kept by ids or names of persons. A word may be no name there. */
export const judgeName = (name: string, identifiers: Identifiers): Verdict => {
  const verdict = judgeValue('', name, identifiers)
  if (verdict !== 'name') return verdict
  return /\P{L}/u.test(name.trim()) ? 'theirs' : 'unsure'
}
