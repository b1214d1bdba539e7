/** Reads RFC 4180 as the standard says it, strictly: CRLF behind every record, quotes only as it allows. */

/** A cell: its text, and whether it stood in quotes (`""` is an empty text, nothing is NULL). */
export interface CsvCell {
  readonly text: string
  readonly quoted: boolean
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y

/** @throws {SyntaxError} where the text is not RFC 4180 */
export const parseCsv = (text: string): readonly (readonly CsvCell[])[] => {
  const records: CsvCell[][] = []
  let record: CsvCell[] = []
  for (let at = 0; at < text.length; ) {
    CELL.lastIndex = at
    const match = CELL.exec(text)
    if (match === null) throw new SyntaxError(`not RFC 4180 at character ${at}`)
    const [whole, quoted, bare = '', end] = match
    record.push({ text: quoted?.replaceAll('""', '"') ?? bare, quoted: quoted !== undefined })
    if (end === '\r\n') {
      records.push(record)
      record = []
    }
    at += whole.length
  }
  if (record.length > 0) throw new SyntaxError('the last record has no line end')
  return records
}

/** What docs/export.md says of the apostrophe: taking one away at each place gives the text back. */
export const undoNeutralised = (text: string): string =>
  text.replace(/(^|[;\t\r\n])'([ ']*[=+@＝＋－＠-])/g, '$1$2')
