/** Tables of the pages as CSV files: the link that asks for one, and its content. */

import { type Html, html } from '../../../report/html.ts'
import { cellText } from '../../../report/rows.ts'
import type { Form } from '../../../support/json-form.ts'
import { csvOf } from '../csv.ts'
import { type Answered, type Fragment, fragment, type Reader } from './fragment.ts'

const LONGEST_FILE_NAME = 60

/** Letters and digits, which every system takes. */
const fileName = (name: string, suffix: string): string =>
  `${
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^A-Za-z0-9]+/g, ' ')
      .trim()
      .slice(0, LONGEST_FILE_NAME)
      .replaceAll(' ', '-')
      .toLowerCase() || 'firmlake'
  }.${suffix}`

interface FileWords {
  /** The file's, without a suffix. */
  readonly name: string
  /** The subject, for whoever hears the link alone. */
  readonly of: string
  /** Shown when it is saved. @default '' */
  readonly said?: string
}

const fileButton = (
  file: string,
  parameters: object,
  [word, suffix, className]: readonly [word: string, suffix: string, className: string],
  { name, of, said = '' }: FileWords,
): Html =>
  html`<button type="button" class="${className}" data-key="${`file ${file}`}" data-file="${file}" data-ask="${JSON.stringify(parameters)}" data-name="${fileName(name, suffix)}" data-said="${said}">${word}<span class="vh"> of “${of}”</span></button><span class="soft" role="status"></span>`

export const csvButton = (file: string, parameters: object, words: FileWords): Html =>
  fileButton(file, parameters, ['CSV', 'csv', 'link'], words)

export const workbookButton = (parameters: object, words: FileWords): Html =>
  fileButton('workbook', parameters, ['Excel', 'xlsx', 'btn'], words)

/** A file in the browser's hands. */
export interface SavedFile {
  readonly type: string
  readonly bytes: string | Buffer
}

/** A question's answer as a file: of its columns those that are left. */
export const csvFile = <Parameters>(
  parameters: Form<Parameters>,
  tableOf: (reader: Reader, parameters: Parameters) => Promise<Pick<Answered, 'columns' | 'rows'>>,
): Fragment<SavedFile> =>
  fragment(parameters, async (reader, sent) => {
    const { columns, rows } = await tableOf(reader, sent)
    const bytes = csvOf({ columns, rows: rows.map((row) => columns.map((name) => row[name])) })
    return { type: 'text/csv; charset=utf-8', bytes }
  })

/** A company's name as words of a button. */
export const nameWords = (row: Readonly<Record<string, unknown>>, id: string): string => {
  const name = cellText(row.company_name)
  return name === '' ? `Company ${id}` : name.slice(0, LONGEST_FILE_NAME)
}
