/** The report as one HTML document: no request, no script, one style sheet. */

import { type Html, html, Html as Piece } from './html.ts'
import { NUMBERS_ID } from './pages/overview.ts'
import { RULES_ID } from './pages/quality.ts'
import { type ForgetLine, type OpenRun, openRunTable, receiptTable } from './render-loads.ts'
import { type CheckLine, cards, checkTable, ruleChecks } from './render-overview.ts'
import { renderSection } from './render-section.ts'
import type { ReportPage, SectionAnswer } from './section.ts'
import { POLICY, STYLE } from './style.ts'

/** The content of a report. */
export interface ReportContent {
  readonly lake: string
  readonly snapshot: number
  /** Name and version of what made it. */
  readonly tool: string
  readonly now: Date
  readonly pages: readonly ReportPage[]
  /** By the id of the section. */
  readonly answers: ReadonlyMap<string, SectionAnswer>
  /** Checks of the loads; those of the rules follow from their section. */
  readonly checks: readonly CheckLine[]
  readonly openRuns: readonly OpenRun[]
  /** In the order of the snapshots. */
  readonly forgotten: readonly ForgetLine[]
}

const NO_ANSWER: SectionAnswer = { columns: [], rows: [] }

const pageHtml = ({ id, title, sections }: ReportPage, content: ReportContent): Html => {
  const answerOf = (section: string): SectionAnswer => content.answers.get(section) ?? NO_ANSWER
  const head =
    id === 'overview'
      ? html`${cards(answerOf(NUMBERS_ID).rows[0] ?? {}, content.now, content.checks)}${checkTable([...content.checks, ...ruleChecks(answerOf(RULES_ID).rows)])}`
      : html``
  const foot =
    id === 'loads' ? html`${openRunTable(content.openRuns)}${receiptTable(content.forgotten)}` : html``
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${head}${sections.map((section) => renderSection(section, answerOf(section.id)))}${foot}</section>
`
}

export const renderReport = (content: ReportContent): string => {
  const { lake, snapshot, tool, now, pages } = content
  const made = `${now.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  const links = pages.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Piece(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Report of snapshot ${snapshot}</title>
<style>${new Piece(STYLE)}</style>
</head>
<body>
<header>
<h1>Report of a lake</h1>
<p><bdi>${lake}</bdi>, snapshot ${snapshot}; made ${made} by ${tool}</p>
</header>
<nav aria-label="Pages"><ul>${links}<li><a href="#">All pages</a></li></ul></nav>
<main>
${pages.map((page) => pageHtml(page, content))}</main>
<footer><p class="soft">One file that loads nothing. The statements run in “firmlake query”.</p></footer>
</body>
</html>
`.text
}
