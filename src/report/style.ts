/** The one style sheet of the report, and what a page with it may load: nothing. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ownFile } from '../support/own-package.ts'

/** Without comments, and without spaces that mean nothing. The sheet has no text in which they would. */
const small = (sheet: string): string =>
  sheet
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .trim()

/** The style sheet as it stands between its tags, and the policy that lets a page use it and nothing else. */
export const readStyle = (): { readonly style: string; readonly policy: string } => {
  const style = small(readFileSync(ownFile('report/sheet.css'), 'utf8'))
  const hash = createHash('sha256').update(style).digest('base64')
  // The picture is the empty one that keeps a browser from asking for an icon.
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`
  return { style, policy }
}
