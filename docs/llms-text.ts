/** `docs/llms.txt`: the index of the pages for language models, in the form of llmstxt.org. Made of docs/README.md. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const INDEX = join(import.meta.dirname, 'README.md')
const PACKAGE = join(import.meta.dirname, '../package.json')

/** What a model may skip where its context is short: pages to look things up in. */
const OPTIONAL = 'Look up'

const ROW = /^\| (\[[^\]]+\]\([^)]+\)) \| (.+) \|$/gm
const LINK = /\[[^\]]+\]\([^)]+\)/g

const sectionText = (section: string): string => {
  const [title = '', ...lines] = section.split('\n')
  const text = lines.join('\n')
  const rows = [...text.matchAll(ROW)].map(([, link, about]) => `- ${link}: ${about}`)
  const links = rows.length > 0 ? rows : (text.match(LINK) ?? []).map((link) => `- ${link}`)
  return `## ${title === OPTIONAL ? 'Optional' : title}\n\n${links.join('\n')}\n`
}

/** @throws {TypeError} where docs/README.md has no section */
export const llmsText = (): string => {
  const { name, description }: Readonly<Record<string, string>> = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  const [, ...sections] = readFileSync(INDEX, 'utf8').split(/^## /m)
  if (sections.length === 0) throw new TypeError('Cannot make llms.txt: docs/README.md has no section')
  return `# ${name}

> ${description}.

Paths are relative to this file. An agent that has a lake to ask, rather than a question about firmlake: [agents.md](agents.md).

${sections.map(sectionText).join('\n')}`
}
