/** What the generated pages are put together from. */

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** A table in Markdown. */
export const rows = (header: readonly string[], body: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...body].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')
