/**
 * Aligned columns for people: widths as a terminal shows them, nothing that could steer the terminal, wide tables cut to
 * fit.
 */

import { styleText } from 'node:util'

export interface TextColumn {
  readonly title: string
  /** Numbers stand to the right. @default false */
  readonly right?: boolean
  /** Type of its values, shown below the title. @default none */
  readonly type?: string
  /** Colour of a cell by its text, on a terminal with colours. @default none */
  readonly colour?: (text: string) => Colour | undefined
}

export type Colour = 'red' | 'yellow' | 'dim'

/**
 * A text in colour where the stream is a terminal that shows colours: not with NO_COLOR or `--no-color`.
 *
 * @param stream where it will be written @default standard output
 */
export const coloured = (
  colour: Colour,
  text: string,
  stream: NodeJS.WritableStream = process.stdout,
): string => styleText(colour, text, { stream })

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

const LINE_ENDS = /(\t|\r?\n)/
/** And colours. */
const OWN_TEXT = /(\t|\r?\n|\u001b\[\d+m)/

/** The same of whole lines, whose ends and tabs stay. @param isOwn whether the lines may be in colour */
export const printableLines = (text: string, isOwn = false): string =>
  text
    .split(isOwn ? OWN_TEXT : LINE_ENDS)
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

/** Colour of what a check or a part of a night came to. */
export const colourOfStatus = (status: string): Colour | undefined =>
  (({ failed: 'red', 'held-back': 'yellow', note: 'yellow' }) as const)[status]

const pad = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return right ? space + text : text + space
}

/** A type that is no longer counts for the width of its column; longer ones are cut. */
const TYPE_WIDTH = 9

const headWidth = ({ title, type = '' }: TextColumn): number =>
  Math.max(displayWidth(printable(title)), Math.min(displayWidth(printable(type)), TYPE_WIDTH))

/** Lines of a table: titles, types if there are any, a rule, rows; no space at the end of a line. */
export const textTable = (columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => columns.map((_, column) => printable(row[column] ?? '')))
  const widths = columns.map((one, column) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? '')), headWidth(one)),
  )
  const line = (
    strings: readonly string[],
    colourOf: (text: string, column: number) => Colour | undefined,
  ): string =>
    strings
      .map((text, column) => {
        const padded = pad(text, widths[column] ?? 0, columns[column]?.right ?? false)
        const cell = column === strings.length - 1 ? padded.trimEnd() : padded
        const colour = colourOf(text, column)
        return colour === undefined ? cell : coloured(colour, cell)
      })
      .join('  ')
      .trimEnd()
  const plain = (): undefined => undefined
  const types = columns.map(({ type = '' }, column) => cutToWidth(printable(type), widths[column] ?? 0))
  return [
    line(
      columns.map(({ title }) => printable(title)),
      plain,
    ),
    ...(types.some((type) => type !== '') ? [line(types, () => 'dim')] : []),
    coloured('dim', widths.map((width) => '─'.repeat(width)).join('  ')),
    ...cells.map((row) => line(row, (text, column) => columns[column]?.colour?.(text))),
  ]
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
const MIN_TEXT = 12

/** The widest that all columns may be so that they fit; each has at least its own least. */
const widthsWithin = (full: readonly number[], min: readonly number[], room: number): readonly number[] => {
  const at = (most: number): readonly number[] =>
    full.map((width, column) => Math.max(min[column] ?? 0, Math.min(width, most)))
  let most = Math.max(...full)
  while (most > MIN_TEXT && sum(at(most)) > room) most -= 1
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
  const full = columns.map((one, column) => Math.max(headWidth(one), values[column] ?? 0))
  if (sum(full) + GAP * (full.length - 1) <= width) return { columns, rows, shortened: 0, excluded: 0 }

  const min = columns.map(({ right }, column) =>
    Math.max(right ? (values[column] ?? 0) : 0, Math.min(full[column] ?? 0, MIN_TEXT)),
  )
  let shown = 0
  let taken = 0
  for (const one of min) {
    const rest = shown + 1 < min.length ? GAP + displayWidth(MORE.title) : 0
    // A single column is shown however wide it is.
    if (shown > 0 && taken + one + rest > width) break
    taken += one + GAP
    shown += 1
  }
  const excluded = columns.length - shown
  const gaps = GAP * (shown - 1) + (excluded > 0 ? GAP + displayWidth(MORE.title) : 0)
  const widths = widthsWithin(full.slice(0, shown), min.slice(0, shown), width - gaps)
  const cut = (strings: readonly string[]): string[] => [
    ...widths.map((one, column) => cutToWidth(strings[column] ?? '', one)),
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
