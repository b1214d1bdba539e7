/** The report as one HTML document: no request, no script, one style sheet. */

import { brandMark } from './brand.ts'
import { type CheckLine, checkTable, ruleChecks } from './checks.ts'
import { type Html, html, Html as Piece } from './html.ts'
import { numbersIn } from './numbers.ts'
import { NUMBERS_ID, TREND_ID } from './pages/overview.ts'
import { RULES_ID } from './pages/quality.ts'
import { type ForgetLine, type OpenRun, openRunTable, receiptTable } from './render-loads.ts'
import { renderFolded, renderSection } from './render-section.ts'
import { cellNumber, cellText } from './rows.ts'
import type { ReportPage, RowsOf, Section, SectionAnswer, Surroundings } from './section.ts'
import { readStyle } from './style.ts'
import { tiles } from './tiles.ts'
import { firstSteps, verdict } from './verdict.ts'
import { instantWords, spanWords } from './words.ts'

/** The content of a report. */
export interface ReportContent {
  readonly lake: string
  readonly snapshot: number
  /** Name and version of what made it. */
  readonly tool: string
  readonly now: Date
  readonly title: string
  readonly logoText: string
  /** Language of numbers, as of BCP 47. */
  readonly language: string
  /** Address of an explorer, to which names of companies link. */
  readonly explorer?: string | undefined
  readonly pages: readonly ReportPage[]
  /** The companies that the pages name, where links lead to it. */
  readonly named?: Section | undefined
  /** Keyed by the id of the section. */
  readonly answers: ReadonlyMap<string, SectionAnswer>
  /** Checks of the loads; those of the rules follow from their section. */
  readonly checks: readonly CheckLine[]
  readonly openRuns: readonly OpenRun[]
  /** In the order of the snapshots. */
  readonly forgotten: readonly ForgetLine[]
}

const NO_ANSWER: SectionAnswer = { columns: [], rows: [] }

/** Everything that a page is drawn with. */
interface Drawing {
  readonly content: ReportContent
  readonly around: Surroundings
  readonly answerOf: (section: string) => SectionAnswer
  readonly rowsOf: RowsOf
}

/** Whether one sentence stands for all sections of a page. */
const isBare = ({ none, sections }: ReportPage, { rowsOf }: Drawing): boolean =>
  none !== undefined && sections.every(({ id }) => rowsOf(id).length === 0)

/** No card stands around nothing. */
const isCard = ({ id, isFolded }: Section, { rowsOf }: Drawing): boolean =>
  isFolded !== true && rowsOf(id).length > 0

const gridOf = ({ sections }: ReportPage, drawing: Drawing): Html => {
  const cards = sections
    .filter((section) => isCard(section, drawing))
    .map((section) => renderSection(section, drawing.answerOf(section.id), drawing.around))
  return cards.length === 0
    ? html``
    : html`<div class="grid">
${cards}</div>
`
}

const foldsOf = ({ sections }: ReportPage, drawing: Drawing): readonly Html[] =>
  sections
    .filter((section) => !isCard(section, drawing))
    .map((section) => renderFolded(section, drawing.answerOf(section.id), drawing.around))

const folds = (all: readonly Html[]): Html =>
  all.every(({ text }) => text === '')
    ? html``
    : html`<div class="fold folds">
${all}</div>
`

const leadOf = (page: ReportPage, drawing: Drawing): Html => {
  const { rowsOf, around } = drawing
  const said = isBare(page, drawing)
    ? html`${page.none ?? ''}`
    : (page.lead?.(rowsOf, around.numbers) ?? html``)
  return said.text === '' ? html`` : html`<p class="lead">${said}</p>\n`
}

/** A part of what is wrong shares a row with another one. */
const halfHtml = (page: ReportPage, drawing: Drawing): Html =>
  html`<section class="half" id="${page.id}" aria-labelledby="${page.id}-title">
<h2 id="${page.id}-title">${page.title}</h2>
${leadOf(page, drawing)}${gridOf(page, drawing)}${folds(foldsOf(page, drawing))}</section>
`

/** The newest run, where it ended without a snapshot after all that were committed. */
const failedRun = ({ openRuns, answers }: ReportContent): OpenRun | undefined => {
  const newest = openRuns.at(-1)
  const committed = answers.get('durations')?.rows[0]?.run
  return newest?.state === 'gone' && newest.run > cellText(committed) ? newest : undefined
}

const pageHtml = (page: ReportPage, drawing: Drawing): Html => {
  const { openRuns, forgotten } = drawing.content
  const more =
    page.id === 'loads'
      ? [
          openRunTable(openRuns, failedRun(drawing.content) !== undefined),
          receiptTable(forgotten, drawing.around.numbers),
        ]
      : []
  return html`<section id="${page.id}" aria-labelledby="${page.id}-title">
<h2 id="${page.id}-title">${page.title}</h2>
${leadOf(page, drawing)}${gridOf(page, drawing)}${folds([...more, ...foldsOf(page, drawing)])}</section>
`
}

const pagesHtml = (pages: readonly ReportPage[], drawing: Drawing): readonly Html[] => {
  const [first, second, ...others] = pages
  if (first === undefined) return []
  if (first.isHalf && second?.isHalf)
    return [
      html`<div class="halves">${halfHtml(first, drawing)}${halfHtml(second, drawing)}</div>\n`,
      ...pagesHtml(others, drawing),
    ]
  return [pageHtml(first, drawing), ...pagesHtml(pages.slice(1), drawing)]
}

const overviewHtml = (page: ReportPage, drawing: Drawing): Html => {
  const { content, around, rowsOf } = drawing
  const { numbers } = around
  const { now, snapshot, tool, title } = content
  const [row = {}] = rowsOf(NUMBERS_ID)
  const loaded = cellText(row.newest_load)
  const seconds = Math.max(0, (now.getTime() - Date.parse(loaded)) / 1000)
  const checks = [...content.checks, ...ruleChecks(rowsOf(RULES_ID))]
  const isEmpty = cellNumber(row.companies) + cellNumber(row.relations) === 0
  const failed = failedRun(content)
  const isGood = failed === undefined && checks.every(({ status }) => status !== 'failed')
  const facts = [
    `Snapshot ${snapshot}`,
    ...(loaded === '' ? [] : [`loaded ${instantWords(loaded)}`]),
    loaded === ''
      ? `made ${instantWords(now.toISOString())}`
      : `this report made ${spanWords(seconds)} later`,
    tool,
  ]
  return html`<div id="overview">
<div class="head"><h1>${title}</h1><ul class="facts">${facts.map((fact) => html`<li>${fact}</li>`)}</ul></div>
${isEmpty && isGood ? html`` : verdict({ checks, failed, snapshot }, numbers)}${isEmpty ? firstSteps : html``}${tiles(row, rowsOf(TREND_ID), content.checks, numbers)}${folds([checkTable(checks, numbers), ...foldsOf(page, drawing)])}</div>
`
}

const navigation = (pages: readonly ReportPage[], { rowsOf, around }: Drawing): Html => {
  const links = pages.map(({ id, title, count }) => {
    const number = count?.(rowsOf) ?? 0
    return html`<li><a href="#${id}">${title}${number > 0 ? html` <b>${around.numbers.whole(number)}</b>` : html``}</a></li>`
  })
  return html`<nav aria-label="Pages"><ul>${links}</ul></nav>`
}

export const renderReport = (content: ReportContent): string => {
  const { lake, snapshot, now, title, logoText, language, explorer, pages, named, answers } = content
  const answerOf = (section: string): SectionAnswer => answers.get(section) ?? NO_ANSWER
  const around: Surroundings = {
    numbers: numbersIn(language),
    companyHref: (id) => (explorer === undefined ? `#company-${id}` : `${explorer}#/company/${id}`),
  }
  const drawing = { content, around, answerOf, rowsOf: (section: string) => answerOf(section).rows }
  const { style, policy } = readStyle()
  const [overview, ...others] = pages
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Piece(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}: report of snapshot ${snapshot}</title>
<style>${new Piece(style)}</style>
</head>
<body>
<header class="top stick"><div class="in"><a class="brand" href="#overview">${brandMark}${logoText}</a>${navigation(pages, drawing)}</div></header>
<main class="in">
${overview === undefined ? html`` : overviewHtml(overview, drawing)}${pagesHtml(others, drawing)}${named === undefined ? html`` : folds([renderFolded(named, answerOf(named.id), around)])}</main>
<footer class="in foot"><p>The lake <bdi>${lake}</bdi>; made ${instantWords(now.toISOString())}. One file that loads nothing; its statements run in “firmlake query”.</p></footer>
</body>
</html>
`.text
}
