/**
 * Aligned columns for people: widths as a terminal shows them, nothing that could steer the terminal, wide tables cut to
 * fit.
 */

export interface TextColumn {
  readonly title: string
  /** Numbers stand to the right. @default false */
  readonly right?: boolean
}

let segmenter: Intl.Segmenter | undefined
/** Made for the first text that is not plain: it takes longer than all else of a start. */
const graphemesOf = (text: string): Intl.Segments => {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}
const WIDE =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]/u
// Control characters, and those that turn the direction of text.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const PLAIN = /^[\x20-\x7e]*$/

/** Text that cannot steer a terminal: control characters as `\n`, `\u001b`, …. */
export const printable = (text: string): string =>
  PLAIN.test(text)
    ? text
    : text.replace(UNPRINTABLE, (character) =>
        character === '\n' ? '\\n' : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
      )

/** The same of whole lines, whose ends and tabs stay. */
export const printableLines = (text: string): string =>
  text
    .split(/(\t|\r?\n)/)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('')

/** Columns of a terminal that a text takes. */
export const displayWidth = (text: string): number => {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemesOf(text))
    width += INVISIBLE.test(segment) ? 0 : WIDE.test(segment) ? 2 : 1
  return width
}

/** Cuts a text to a width and says so with `…`. */
export const cutToWidth = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  let cut = ''
  let left = width - 1
  for (const { segment } of graphemesOf(text)) {
    left -= displayWidth(segment)
    if (left < 0) break
    cut += segment
  }
  return `${cut}…`
}

const pad = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return right ? space + text : text + space
}

/** Lines of a table: titles, a rule, rows; no space at the end of a line. */
export const textTable = (columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => columns.map((_, column) => printable(row[column] ?? '')))
  const titles = columns.map(({ title }) => printable(title))
  const widths = titles.map((title, column) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), displayWidth(title)),
  )
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) => pad(text, widths[column] ?? 0, columns[column]?.right ?? false))
      .join('  ')
      .trimEnd()
  return [line(titles), widths.map((width) => '─'.repeat(width)).join('  '), ...cells.map(line)]
}

interface FittedTable {
  readonly columns: readonly TextColumn[]
  readonly rows: readonly (readonly string[])[]
  /** Columns with a text that was cut, and columns that were left out. */
  readonly shortened: number
  readonly excluded: number
}

/** Between two columns. */
const GAP = 2
/** Stands in place of the columns that were left out. */
const MORE: TextColumn = { title: '…' }
/** A text is not cut to less. */
const LEAST_TEXT = 12

/** The widest that all columns may be so that they fit; each has at least its own least. */
const widthsWithin = (full: readonly number[], least: readonly number[], room: number): readonly number[] => {
  const at = (most: number): readonly number[] =>
    full.map((width, column) => Math.max(least[column] ?? 0, Math.min(width, most)))
  let most = Math.max(...full)
  while (most > LEAST_TEXT && sum(at(most)) > room) most -= 1
  return at(most)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** @param width columns of the terminal */
export const fitTable = (
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): FittedTable => {
  // A control character is shown as several: measured is what is shown.
  const cells = rows.map((row) => columns.map((_, column) => printable(row[column] ?? '')))
  const values = columns.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), 0),
  )
  const titles = columns.map(({ title }) => displayWidth(printable(title)))
  const full = titles.map((title, column) => Math.max(title, values[column] ?? 0))
  if (sum(full) + GAP * (full.length - 1) <= width) return { columns, rows, shortened: 0, excluded: 0 }

  const least = columns.map(({ right }, column) =>
    Math.max(right ? (values[column] ?? 0) : 0, Math.min(full[column] ?? 0, LEAST_TEXT)),
  )
  let shown = 0
  let taken = 0
  for (const one of least) {
    const rest = shown + 1 < least.length ? GAP + displayWidth(MORE.title) : 0
    // One column is shown however wide it is.
    if (shown > 0 && taken + one + rest > width) break
    taken += one + GAP
    shown += 1
  }
  const excluded = columns.length - shown
  const gaps = GAP * (shown - 1) + (excluded > 0 ? GAP + displayWidth(MORE.title) : 0)
  const widths = widthsWithin(full.slice(0, shown), least.slice(0, shown), width - gaps)
  const cut = (texts: readonly string[]): string[] => [
    ...widths.map((one, column) => cutToWidth(texts[column] ?? '', one)),
    ...(excluded > 0 ? [MORE.title] : []),
  ]
  const names = cut(columns.map(({ title }) => printable(title)))
  return {
    columns: names.map((title, column) => ({ ...(columns[column] ?? MORE), title })),
    rows: cells.map(cut),
    shortened: widths.filter((one, column) => one < (full[column] ?? 0)).length,
    excluded,
  }
}
