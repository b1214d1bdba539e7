/** What stands on the pages of a report, read from its HTML. */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Without tags, as a reader sees it. */
export const plain = (text: string): string =>
  text.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

/** The first group of every match. */
export const every = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, inner = '']) => inner)

export interface ShownSection {
  readonly id: string
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly chart: string
}

/** The sections of a report that have a statement. */
export const sectionsOf = (page: string): readonly ShownSection[] =>
  page
    .split('<h3 ')
    .slice(1)
    .filter((part) => part.includes('<code>'))
    .map((part) => ({
      id: every(part, /^id="([^"]*)"/g)[0] ?? '',
      sql: plain(every(part, /<code>([\s\S]*?)<\/code>/g)[0] ?? ''),
      columns: every(part, /<th scope="col">(.*?)<\/th>/g).map(plain),
      rows: every(part.split('<tbody>')[1] ?? '', /<tr>([\s\S]*?)<\/tr>/g).map((row) =>
        every(row, /<td[^>]*>([\s\S]*?)<\/td>/g).map(plain),
      ),
      chart: every(part, /<svg([\s\S]*?)<\/svg>/g)[0] ?? '',
    }))
