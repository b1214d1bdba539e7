/** Pages of the documentation that an agent can read. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PACKAGE_FOLDER } from '../support/own-package.ts'

export interface DocumentationPage {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly read: () => Promise<string>
}

const page = (path: string, title: string, description: string): DocumentationPage => ({
  name: path,
  title,
  description,
  read: () => readFile(join(PACKAGE_FOLDER, 'docs', `${path}.md`), 'utf8'),
})

export const PAGES: readonly DocumentationPage[] = [
  page(
    'reference/tables',
    'Tables',
    'every table with its columns, types, units and meaning; line items; codes',
  ),
  page(
    'reference/views',
    'Views and macros',
    'every view and macro of the analysis layer with its rule and an example',
  ),
  page(
    'analysis',
    'Common questions',
    'statements for growth, owners, restatements, peers and other questions',
  ),
  page('reference/codes', 'Codes', 'every error code with its meaning'),
  page('glossary', 'Glossary', 'the terms'),
]
