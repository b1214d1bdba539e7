/**
 * Workbooks of Excel as a stream, in bounded memory: sheets with bold titles that stay in view, a filter, widths and number
 * formats. Knows cells, and neither tables nor types.
 */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw } from 'node:zlib'
import { DAY_MS } from '../../support/quantities.ts'

/** The value of a cell; times are UTC. */
export type Cell = string | number | boolean | Date | null

export interface SheetColumn {
  readonly title: string
  /** How a spreadsheet shows a value; empty for as it is. */
  readonly formatOf: (cell: Cell) => string
}

/** The rows and columns that a sheet may have. */
export const MOST_SHEET_ROWS = 1_048_576
export const MOST_SHEET_COLUMNS = 16_384

/** The most characters (UTF-16) of a cell. */
export const MOST_CHARACTERS = 32_767
/** Text that a reader of sheets takes for a character's code (`_x000D_`), and characters that XML does not have. */
const CODE_LIKE = /_(?=x[0-9A-Fa-f]{4}_)/g
const NO_XML = /[\ufffe\uffff]/g

/** A text as a reader of the sheet reads it back. */
export const sheetText = (text: string): string =>
  text
    .replace(CODE_LIKE, '_x005F_')
    .replace(NO_XML, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase()}_`)

/** The beginning of a text that a cell has room for, with `…` at its end. */
export const shortened = (text: string): string => {
  const cut = text.slice(0, MOST_CHARACTERS - 1)
  // Half of a pair is no character.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** Says that a part of a workbook, or all of it, has more than 4 GiB. */
export class WorkbookTooLarge extends Error {
  override readonly name = 'WorkbookTooLarge'
}

const MOST_BYTES = 0xffff_ffff
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** XML has no control characters but these three, and a reader turns CR into LF. */
const ESCAPED = /[&<>"]|[\0-\x08\x0b\x0c\x0d\x0e-\x1f]/g

/** A text in XML; characters that it does not have as readers of sheets expect them, `_x000D_`. */
const escaped = (text: string): string =>
  text.replace(
    ESCAPED,
    (sign) => ENTITIES[sign] ?? `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )

/** Day 0 of a spreadsheet's calendar, which has a 29 February 1900. */
const DAY_0 = Date.UTC(1899, 11, 30)

/** `A`, …, `Z`, `AA`, … */
const letters = (column: number): string =>
  (column < 26 ? '' : letters(Math.floor(column / 26) - 1)) + String.fromCharCode(65 + (column % 26))

const TITLE_STYLE = 1
/** Numbers of styles before those of formats. */
const FIRST_FORMAT_STYLE = 2
/** Numbers of formats below are a spreadsheet's own. */
const FIRST_FORMAT = 164

const cellText = (at: string, style: number, cell: Cell): string => {
  const head = `<c r="${at}"${style === 0 ? '' : ` s="${style}"`}`
  if (cell === null) return ''
  if (typeof cell === 'string')
    return `${head} t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
  if (typeof cell === 'boolean') return `${head} t="b"><v>${cell ? 1 : 0}</v></c>`
  return `${head}><v>${cell instanceof Date ? (cell.getTime() - DAY_0) / DAY_MS : cell}</v></c>`
}

/** Rows whose texts say how wide columns are. */
const MEASURED_ROWS = 200
const MIN_WIDTH = 8
const MOST_WIDTH = 60
/** Room for the arrow of the filter behind a title. */
const ARROW = 4

const widthOf = (cell: Cell, format: string): number => {
  if (cell === null) return 0
  if (cell instanceof Date) return format.length
  const { length } = String(cell)
  // A comma between each three digits.
  return typeof cell === 'number' ? length + length / 3 : length
}

const widthsOf = (columns: readonly SheetColumn[], rows: readonly (readonly Cell[])[]): readonly number[] =>
  columns.map(({ title, formatOf }, at) => {
    const widthIn = (row: readonly Cell[]): number => widthOf(row[at] ?? null, formatOf(row[at] ?? null))
    const most = rows.reduce((width, row) => Math.max(width, widthIn(row)), title.length + ARROW)
    return Math.min(MOST_WIDTH, Math.max(MIN_WIDTH, Math.ceil(most) + 1))
  })

/** Characters of XML that are compressed at once. */
const CHUNK = 65_536

interface Part {
  readonly path: string
  readonly offset: number
  readonly crc: number
  readonly size: number
  readonly compressed: number
}

interface MadeSheet {
  readonly name: string
  /** Cells that the filter is over, `$A$1:$F$9`. */
  readonly range: string
}

const u16 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length)
  values.forEach((value, at) => {
    bytes.writeUInt16LE(value, 2 * at)
  })
  return bytes
}
const u32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, at) => {
    bytes.writeUInt32LE(value, 4 * at)
  })
  return bytes
}

/** Version 2.0, sizes behind the data and names in UTF-8, deflate, midnight of 1 January 1980. */
const PART_FACTS = u16(20, 0x0808, 8, 0, 0x21)

/** Writes a workbook part by part. */
export class Workbook {
  readonly #write: (bytes: Uint8Array) => Promise<void>
  readonly #parts: Part[] = []
  readonly #sheets: MadeSheet[] = []
  /** Styles by format, from `FIRST_FORMAT_STYLE`. */
  readonly #formats = new Map<string, number>()
  #offset = 0

  /** @param write takes the bytes of the file in their order */
  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#offset
  }

  /**
   * Writes rows to a sheet, and to further ones `<name>_2`, … where one is full.
   *
   * @param sheetRows rows of a sheet with the one of the titles
   * @throws {WorkbookTooLarge}
   */
  async addSheets(
    name: string,
    columns: readonly SheetColumn[],
    rows: AsyncIterator<readonly Cell[]>,
    sheetRows: number,
  ): Promise<void> {
    const next = async (): Promise<readonly Cell[] | undefined> => {
      const { done, value } = await rows.next()
      return done ? undefined : value
    }
    let ahead = await next()
    for (let number = 1; number === 1 || ahead !== undefined; number++) {
      let left = sheetRows - 1
      const take = async (): Promise<readonly Cell[] | undefined> => {
        const row = left > 0 ? ahead : undefined
        if (row === undefined) return undefined
        left -= 1
        ahead = await next()
        return row
      }
      await this.#addSheet(number === 1 ? name : `${name.slice(0, 27)}_${number}`, columns, take)
    }
  }

  async #addSheet(
    name: string,
    columns: readonly SheetColumn[],
    take: () => Promise<readonly Cell[] | undefined>,
  ): Promise<void> {
    let count = 1
    const measured: (readonly Cell[])[] = []
    for (let row = await take(); row !== undefined; row = await take())
      if (measured.push(row) === MEASURED_ROWS) break
    const names = columns.map((_, at) => letters(at))
    const rowText = (row: readonly Cell[]): string => {
      count += 1
      const cells = row.map((cell, at) =>
        cellText(`${names[at]}${count}`, this.#styleOf(columns[at]?.formatOf(cell) ?? ''), cell),
      )
      return `<row r="${count}">${cells.join('')}</row>`
    }
    const rangeOf = (dollar: string): string =>
      `${dollar}A${dollar}1:${dollar}${names.at(-1)}${dollar}${count}`
    const part = async function* (): AsyncGenerator<string> {
      const widths = widthsOf(columns, measured).map(
        (width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`,
      )
      const titles = columns.map(({ title }, at) => cellText(`${names[at]}1`, TITLE_STYLE, title))
      yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
        `<cols>${widths.join('')}</cols><sheetData><row r="1">${titles.join('')}</row>`
      for (const row of measured) yield rowText(row)
      for (let row = await take(); row !== undefined; row = await take()) yield rowText(row)
      yield `</sheetData><autoFilter ref="${rangeOf('')}"/></worksheet>`
    }
    await this.#addPart(`xl/worksheets/sheet${this.#sheets.length + 1}.xml`, part())
    this.#sheets.push({ name, range: rangeOf('$') })
  }

  /** Writes all that a workbook has besides its sheets. @throws {WorkbookTooLarge} */
  async finish(): Promise<void> {
    const sheets = this.#sheets.map((sheet, at) => ({ ...sheet, name: escaped(sheet.name), number: at + 1 }))
    const each = (text: (sheet: (typeof sheets)[number]) => string): string => sheets.map(text).join('')
    const quotedName = (name: string): string => `'${name.replaceAll("'", "''")}'`
    await this.#addText('xl/styles.xml', this.#stylesText())
    await this.#addText(
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>` +
        each(({ name, number }) => `<sheet name="${name}" sheetId="${number}" r:id="rId${number}"/>`) +
        '</sheets><definedNames>' +
        each(
          ({ name, range, number }) =>
            `<definedName name="_xlnm._FilterDatabase" localSheetId="${number - 1}" hidden="1">${quotedName(name)}!${range}</definedName>`,
        ) +
        '</definedNames></workbook>',
    )
    await this.#addText(
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${PACKAGE}/relationships">` +
        each(
          ({ number }) =>
            `<Relationship Id="rId${number}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
        ) +
        `<Relationship Id="rId${sheets.length + 1}" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
    )
    await this.#addText(
      '_rels/.rels',
      `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    )
    await this.#addText(
      '[Content_Types].xml',
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
        `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/>` +
        each(
          ({ number }) =>
            `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${TYPES}.worksheet+xml"/>`,
        ) +
        '</Types>',
    )
    await this.#addDirectory()
  }

  #styleOf(format: string): number {
    if (format === '') return 0
    const known = this.#formats.get(format) ?? FIRST_FORMAT_STYLE + this.#formats.size
    this.#formats.set(format, known)
    return known
  }

  #stylesText(): string {
    const formats = [...this.#formats.keys()]
    const fonts =
      '<font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font>'
    const plain = 'fontId="0" fillId="0" borderId="0" xfId="0"'
    const list = (tag: string, items: readonly string[]): string =>
      items.length === 0 ? '' : `<${tag} count="${items.length}">${items.join('')}</${tag}>`
    return (
      `<styleSheet xmlns="${MAIN}">` +
      list(
        'numFmts',
        formats.map((one, at) => `<numFmt numFmtId="${FIRST_FORMAT + at}" formatCode="${escaped(one)}"/>`),
      ) +
      `<fonts count="2">${fonts}</fonts><fills count="2"><fill><patternFill patternType="none"/></fill>` +
      '<fill><patternFill patternType="gray125"/></fill></fills>' +
      '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
      list('cellXfs', [
        `<xf numFmtId="0" ${plain}/>`,
        '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>',
        ...formats.map((_, at) => `<xf numFmtId="${FIRST_FORMAT + at}" ${plain} applyNumberFormat="1"/>`),
      ]) +
      '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )
  }

  async #emit(...parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      await this.#write(part)
      this.#offset += part.byteLength
    }
  }

  #addText(path: string, text: string): Promise<void> {
    return this.#addPart(path, [HEAD, text])
  }

  /** A part of the archive: its sizes and check sum stand behind it. */
  async #addPart(path: string, strings: Iterable<string> | AsyncIterable<string>): Promise<void> {
    const offset = this.#offset
    const name = Buffer.from(path)
    await this.#emit(u32(0x0403_4b50), PART_FACTS, u32(0, 0, 0), u16(name.length, 0), name)
    const start = this.#offset
    let crc = 0
    let size = 0
    const bytes = async function* (): AsyncGenerator<Buffer> {
      for await (const text of gathered(strings)) {
        const chunk = Buffer.from(text)
        crc = crc32(chunk, crc)
        size += chunk.length
        if (size > MOST_BYTES) throw new WorkbookTooLarge('Cannot write a sheet: it has more than 4 GiB')
        yield chunk
      }
    }
    await pipeline(Readable.from(bytes()), createDeflateRaw(), async (compressed: AsyncIterable<Buffer>) => {
      for await (const part of compressed) await this.#emit(part)
    })
    if (this.#offset > MOST_BYTES)
      throw new WorkbookTooLarge('Cannot write a workbook: it has more than 4 GiB')
    const compressed = this.#offset - start
    await this.#emit(u32(0x0807_4b50, crc, compressed, size))
    this.#parts.push({ path, offset, crc, size, compressed })
  }

  async #addDirectory(): Promise<void> {
    const start = this.#offset
    for (const { path, offset, crc, size, compressed } of this.#parts) {
      const name = Buffer.from(path)
      await this.#emit(u32(0x0201_4b50), u16(20), PART_FACTS, u32(crc, compressed, size))
      await this.#emit(u16(name.length, 0, 0, 0, 0), u32(0, offset), name)
    }
    const count = this.#parts.length
    await this.#emit(u32(0x0605_4b50), u16(0, 0, count, count), u32(this.#offset - start, start), u16(0))
  }
}

/** Texts put together, so that few calls compress them. */
async function* gathered(strings: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let waiting = ''
  for await (const text of strings) {
    waiting += text
    if (waiting.length < CHUNK) continue
    yield waiting
    waiting = ''
  }
  yield waiting
}
