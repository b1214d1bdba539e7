/** What stands on the pages of a report, read from its HTML. */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Without tags, as a reader sees it. */
export const plain = (text: string): string =>
  text.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

/** The first group of every match. */
export const every = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, inner = '']) => inner)

/** A grouped number as a program writes it. */
export const ungrouped = (text: string): string => text.replaceAll(',', '').replaceAll('−', '-')

export interface ShownSection {
  readonly id: string
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** All of it, before the table of its numbers. */
  readonly drawing: string
}

/** @param cell from behind `<td` on */
const cellOf = (cell: string): string => {
  const text = plain(cell.slice(cell.indexOf('>') + 1))
  return cell.startsWith(' class="n"') ? ungrouped(text) : text
}

const TABLE = '<table class="data">'

/** The sections of a report that have a statement. */
export const sectionsOf = (page: string): readonly ShownSection[] =>
  page
    .split('<h3 id=')
    .slice(1)
    .filter((part) => part.includes('<pre tabindex="0"><code>'))
    .map((part) => {
      // A table of the first rows may stand before that of all.
      const at = part.lastIndexOf(TABLE)
      const table = at < 0 ? '' : (part.slice(at).split('</table>')[0] ?? '')
      return {
        id: every(part, /^"([^"]*)"/g)[0] ?? '',
        sql: plain(every(part, /<pre tabindex="0"><code>([\s\S]*?)<\/code>/g)[0] ?? ''),
        columns: every(table, /<th scope="col"(?: class="n")?>(.*?)<\/th>/g).map(plain),
        rows: every(table.split('<tbody>')[1] ?? '', /<tr>([\s\S]*?)<\/tr>/g).map((row) =>
          every(row, /<td([^>]*>[\s\S]*?)<\/td>/g).map(cellOf),
        ),
        drawing: at < 0 ? part : part.slice(0, at),
      }
    })
