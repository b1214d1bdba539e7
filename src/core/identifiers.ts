/**
 * Names and national ids, which identify a company or person besides its id: found in texts whatever is between
 * their words.
 */

import { PROTECTED_IDENTITY } from '../contract/objects.ts'
import { birthKey, MIN_CHARACTERS, numberKey } from './person-keys.ts'

const WORDS = /[\p{L}\p{M}\p{N}]+/gu
/** Characters that may stand between the parts of a national id, besides the marks that some of them have. */
const ALWAYS_BETWEEN = '-'

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** Texts as a person reads them: escapes of JSON undone, also where the whole is no JSON. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|(["\\/nrtbf]))/g, (_, code?: string, mark = '') =>
    code === undefined ? (ESCAPES[mark] ?? mark) : String.fromCharCode(Number.parseInt(code, 16)),
  )

interface Word {
  readonly text: string
  readonly from: number
  readonly to: number
}

const upper = (text: string): string => text.normalize('NFC').toUpperCase()

const wordsOf = (text: string): readonly Word[] =>
  [...text.matchAll(WORDS)].map((found) => ({
    ...{ text: found[0], from: found.index },
    to: found.index + found[0].length,
  }))

/** A text as its words alone. */
const joined = (text: string, by: string): string =>
  wordsOf(upper(text))
    .map((word) => word.text)
    .join(by)

/** Whether a text contains a name or a national id as words of their own. */
interface Standing {
  readonly name: boolean
  readonly nationalId: boolean
}

export interface Identifiers {
  /** The identifiers of the forgotten that a text contains. */
  readonly standing: (text: string) => Standing
  /** Whether a text is a name of theirs and nothing else, a short one too. */
  readonly isName: (text: string) => boolean
  /** Whether a text has all words of a name, in any order, or a national id; escapes of JSON are undone. */
  readonly standIn: (text: string) => boolean
  /** Whether a text has an id, as digits without another digit beside them. @param leastDigits shorter ones do not count */
  readonly idStandsIn: (text: string, minDigits?: number) => boolean
  /** Whether a text has a name, a national id or an id. */
  readonly mentions: (text: string) => boolean
  /** Ids of the forgotten that stand in a text. */
  readonly idsIn: (text: string) => readonly bigint[]
  /** Whether a row without an id is theirs, by a number or by a name beside the date of birth. */
  readonly isOfKeys: (keys: PersonKeys) => boolean
  /** Keys as they are sought in tables. */
  readonly keys: { readonly numbers: ReadonlySet<string>; readonly births: ReadonlySet<string> }
}

interface PersonKeys {
  readonly nationalId: string
  readonly orgNo: string
  readonly name: string
  readonly birth: string
}

interface KnownStrings {
  readonly names: Iterable<string>
  readonly nationalIds: Iterable<string>
  /** Names beside dates of birth, as keys. @default none */
  readonly births?: Iterable<string>
}

/** @param ids of companies and persons */
export const identifiersOf = (
  { names: givenNames, nationalIds: givenIds, births: givenBirths = [] }: KnownStrings,
  ids: Iterable<bigint>,
): Identifiers => {
  const names = new Set<string>()
  /** Words of names by the longest of them. */
  const namesByWord = new Map<string, (readonly string[])[]>()
  const nationalIds = new Set<string>()
  const numberKeys = new Set<string>()
  const births = new Set(givenBirths)
  const between = new Set(ALWAYS_BETWEEN)
  let [mostWords, mostCharacters] = [0, 0]
  for (const name of givenNames) {
    const words = wordsOf(upper(name)).map(({ text }) => text)
    if (words.length === 0 || name === PROTECTED_IDENTITY) continue
    names.add(words.join(' '))
    const longest = words.reduce((one, other) => (other.length > one.length ? other : one))
    namesByWord.set(longest, [...(namesByWord.get(longest) ?? []), words])
    mostWords = Math.max(mostWords, words.length)
  }
  for (const id of givenIds) {
    const key = numberKey(id)
    if (key !== undefined) numberKeys.add(key)
    const text = joined(id, '')
    if (text.length < MIN_CHARACTERS || id === PROTECTED_IDENTITY) continue
    nationalIds.add(text)
    mostCharacters = Math.max(mostCharacters, text.length)
    for (const mark of id.replace(WORDS, '')) between.add(mark)
  }
  const numbers = new Set([...ids].map(String))

  const isBetween = (text: string): boolean =>
    [...text].every((mark) => between.has(mark) || mark.trim() === '')

  const nameAt = (words: readonly Word[], at: number): boolean => {
    let name = ''
    for (const { text } of words.slice(at, at + mostWords)) {
      name += name === '' ? text : ` ${text}`
      if (name.length >= MIN_CHARACTERS && names.has(name)) return true
    }
    return false
  }
  const nationalIdAt = (text: string, words: readonly Word[], at: number): boolean => {
    let id = ''
    for (let next = at; next < words.length; next++) {
      const [word, before] = [words[next], words[next - 1]]
      if (word === undefined) return false
      if (next > at && before !== undefined && !isBetween(text.slice(before.to, word.from))) return false
      id += word.text
      if (id.length > mostCharacters) return false
      if (nationalIds.has(id)) return true
    }
    return false
  }
  const standing = (given: string): Standing => {
    const text = upper(given)
    const words = wordsOf(text)
    return {
      name: names.size > 0 && words.some((_, at) => nameAt(words, at)),
      nationalId: nationalIds.size > 0 && words.some((_, at) => nationalIdAt(text, words, at)),
    }
  }
  const standIn = (given: string): boolean => {
    const text = upper(unescaped(given))
    const words = wordsOf(text)
    const all = new Set(words.map((word) => word.text))
    return (
      [...all].some((word) => namesByWord.get(word)?.some((name) => name.every((one) => all.has(one)))) ||
      (nationalIds.size > 0 && words.some((_, at) => nationalIdAt(text, words, at)))
    )
  }
  const numbersIn = (text: string): readonly string[] =>
    [...unescaped(text).matchAll(/\d+/g)].map(([run]) => run)
  const idStandsIn = (text: string, minDigits = 1): boolean =>
    numbersIn(text).some((run) => run.length >= minDigits && numbers.has(run))
  return {
    standing,
    isName: (text) => names.has(joined(text, ' ')),
    ...{ standIn, idStandsIn },
    mentions: (text) => standIn(text) || idStandsIn(text),
    idsIn: (text) => numbersIn(text).flatMap((run) => (numbers.has(run) ? [BigInt(run)] : [])),
    isOfKeys: ({ nationalId, orgNo, name, birth }) => {
      const national = numberKey(nationalId)
      if ([national, numberKey(orgNo)].some((key) => numberKeys.has(key ?? ''))) return true
      // Who has another national id is another, of the same name and day.
      return national === undefined && births.has(birthKey(name, birth) ?? '')
    },

    keys: { numbers: numberKeys, births },
  }
}
