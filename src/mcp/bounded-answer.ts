/** The answer of a tool as JSON of a bounded size, for a model to read: no character in it is invisible, and cuts are stated. */

/** About 20,000 tokens: what usual clients accept without cutting the answer themselves. */
export const MOST_ANSWER_BYTES = 60_000

/** Room for the statements of what was cut. */
const CUT_BYTES = 1_000

/** Control characters, and those that are not shown or turn the order of others around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** JSON on one line, with invisible characters as escapes: the same data. */
export const seenJson = (json: string): string => json.replace(UNSEEN, escaped)

const jsonOf = (value: unknown): string => seenJson(JSON.stringify(value) ?? 'null')

export interface BoundedAnswer {
  /** Adds a value; `null` where it does not fit. */
  readonly put: (name: string, value: unknown) => void
  /**
   * Adds a list with as many rows as fit, at most `most`; reads no further than that.
   *
   * @param rows each as JSON on one line
   * @param hint what to do where there are more than `most`
   */
  readonly list: (
    name: string,
    rows: Iterable<string> | AsyncIterable<string>,
    most?: number,
    hint?: string,
  ) => Promise<void>
  /** States that something is left out. */
  readonly cut: (text: string) => void
  readonly text: () => string
}

export const newAnswer = (mostBytes = MOST_ANSWER_BYTES): BoundedAnswer => {
  const members: string[] = []
  const cuts: string[] = []
  let left = mostBytes - CUT_BYTES
  const tooLarge = `the answer has at most ${mostBytes} bytes`
  const add = (name: string, text: string): void => {
    members.push(`${JSON.stringify(name)}:${text}`)
    left -= Buffer.byteLength(text)
  }
  return {
    put: (name, value) => {
      const text = jsonOf(value)
      const fits = Buffer.byteLength(text) <= left
      if (!fits) cuts.push(`"${name}" is left out: ${tooLarge}`)
      add(name, fits ? text : 'null')
    },
    list: async (name, rows, most = Number.POSITIVE_INFINITY, hint = '') => {
      const kept: string[] = []
      let bytes = 0
      for await (const row of rows) {
        bytes += Buffer.byteLength(row) + 2
        const isFull = kept.length >= most
        if (isFull) cuts.push(`"${name}" has the first ${most}, and there are more${hint}`)
        else if (bytes > left) cuts.push(`"${name}" has the first ${kept.length}: ${tooLarge}`)
        if (isFull || bytes > left) break
        kept.push(row)
      }
      add(name, kept.length === 0 ? '[]' : `[\n${kept.join(',\n')}]`)
    },
    cut: (text) => cuts.push(text),
    text: () => {
      if (cuts.length > 0) members.push(`"cut":${jsonOf(cuts)}`)
      return `{${members.join(',\n')}}`
    },
  }
}

/** Values as rows of `list`. */
export const jsonRows = (values: readonly unknown[]): readonly string[] => values.map(jsonOf)
