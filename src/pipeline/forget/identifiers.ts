/** What tells a company or person apart besides its id: names and national ids, found in texts that nobody can read as records. */

/** Shorter ones stand in too many texts. */
const LEAST_CHARACTERS = 5

const WORD = /[\p{L}\p{N}]/u

/** Texts as a person reads them: escapes of JSON undone, also where the whole is no JSON. */
export const unescaped = (text: string): string =>
  text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(["\\/])/g, '$1')

/** National ids as the service compares them. */
export const stripped = (id: string): string => id.replace(/[\s-]/g, '').toUpperCase()

const isWordAt = (text: string, at: number): boolean => at >= 0 && WORD.test(text.charAt(at))

/** Whether a text stands in another as words of its own. */
const holdsWords = (text: string, words: string): boolean => {
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1))
    if (!isWordAt(text, at - 1) && !isWordAt(text, at + words.length)) return true
  return false
}

export interface Identifiers {
  /** Whether a text has a name or national id of the forgotten. */
  readonly standIn: (text: string) => boolean
  /** Whether a text has an id of the forgotten as a number of its own. @param leastDigits shorter ones do not count */
  readonly idStandsIn: (text: string, leastDigits?: number) => boolean
}

/** @param texts names and national ids @param ids of companies and persons */
export const identifiersOf = (texts: Iterable<string>, ids: Iterable<bigint>): Identifiers => {
  const known = new Set<string>()
  for (const text of texts) if (text.length >= LEAST_CHARACTERS) known.add(text.toUpperCase())
  const numbers = new Set([...ids].map(String))
  return {
    standIn: (text) => {
      const upper = unescaped(text).toUpperCase()
      return [...known].some((one) => holdsWords(upper, one))
    },
    idStandsIn: (text, leastDigits = 1) =>
      [...unescaped(text).matchAll(/\d+/g)].some(([run]) => run.length >= leastDigits && numbers.has(run)),
  }
}
