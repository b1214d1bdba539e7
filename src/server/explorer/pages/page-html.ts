/** The content of a page with its title, which the browser's script puts into the page's main part. */

import { type Html, html } from '../../../report/html.ts'

export type PageHtml = Html

interface PageHead {
  /** A page of the same id that is shown already keeps its content: its places alone are asked anew. */
  readonly id: string
  readonly title: string
}

export const pageHtml = ({ id, title }: PageHead, content: Html): PageHtml =>
  html`<div class="page ${id}" data-page="${id}" data-title="${title}">
${content}</div>
`
