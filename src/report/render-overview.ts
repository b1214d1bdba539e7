/** Parts of the overview besides its statement: cards in green, amber and red, each with its word, and the checks. */

import { type Html, html } from './html.ts'
import { cellNumber, cellText, grouped, type ReportRow } from './rows.ts'

/** How a check of the lake ended. */
export interface CheckLine {
  readonly name: string
  readonly status: 'passed' | 'note' | 'failed'
  readonly value: number | null
  readonly expected: string
}

const STATES = {
  passed: ['good', '✔', 'good'],
  note: ['fair', '!', 'look at it'],
  failed: ['bad', '✖', 'failed'],
} as const

type State = keyof typeof STATES

const stateMark = (state: State): Html => {
  const [name, sign, word] = STATES[state]
  return html`<span class="${name}"><span aria-hidden="true">${sign}</span> ${word}</span>`
}

const HOUR_MS = 3_600_000

const ageOf = (instant: string, now: Date): string => {
  const hours = Math.max(0, now.getTime() - Date.parse(instant)) / HOUR_MS
  const [count, unit] =
    hours < 1 ? [hours * 60, 'minute'] : hours < 48 ? [hours, 'hour'] : [hours / 24, 'day']
  const whole = Math.floor(count)
  return whole === 0
    ? 'less than a minute before this report'
    : `${whole} ${unit}${whole === 1 ? '' : 's'} before this report`
}

/** The state of a card that a check may judge, too: the worse of both. */
const judged = (checks: readonly CheckLine[], check: string, own?: State): State | undefined =>
  checks.find(({ name, status }) => name === check && (own === undefined || status === 'failed'))?.status ??
  own

const card = (title: string, value: string | Html, state?: State): Html =>
  html`<div><dt>${title}</dt><dd>${value}${state ? html`<small>${stateMark(state)}</small>` : html``}</dd></div>\n`

/** @param row the one of the statement @param checks of the loads */
export const cards = (row: ReportRow, now: Date, checks: readonly CheckLine[]): Html => {
  const newest = cellText(row.newest_load)
  const orNote = (value: unknown): State => (cellNumber(value) > 0 ? 'note' : 'passed')
  return html`<dl>
${[
  card(
    'Newest load',
    newest === ''
      ? 'none'
      : html`<span class="whole">${newest.slice(0, 10)}</span><small>${newest.slice(11, 16)} UTC, ${ageOf(newest, now)}</small>`,
    judged(checks, 'age_seconds'),
  ),
  ...(['companies', 'figures', 'relations'] as const).map((name) =>
    card(name, grouped(row[name]), judged(checks, name)),
  ),
  card('gap of the newest pulls', grouped(row.gap), judged(checks, 'pull_gap', orNote(row.gap))),
  card(
    'quarantined in the newest night',
    grouped(row.newly_quarantined),
    judged(checks, 'quarantined_share', orNote(row.newly_quarantined)),
  ),
  card('quarantined by all loads', grouped(row.quarantined)),
]}</dl>
`
}

/** Rules on the data as checks, by the rows of the section that counts their findings. */
export const ruleChecks = (rows: readonly ReportRow[]): readonly CheckLine[] =>
  rows.map((row) => {
    const [errors, notes] = [cellNumber(row.errors), cellNumber(row.notes)]
    const status = errors > 0 ? 'failed' : notes > 0 ? 'note' : 'passed'
    return { name: cellText(row.rule), status, value: errors || notes, expected: 'no finding' }
  })

export const checkTable = (checks: readonly CheckLine[]): Html => {
  const count = (state: State): number => checks.filter(({ status }) => status === state).length
  const lines = checks.map(
    ({ name, status, value, expected }) =>
      html`<tr><th scope="row">${name}</th><td>${stateMark(status)}</td><td class="n">${value ?? ''}</td><td>${expected}</td></tr>\n`,
  )
  return html`<h3 id="checks">Checks</h3>
<p>${count('passed')} good, ${count('note')} to look at, ${count('failed')} failed. The same as “firmlake check” says with the same expectations; the findings stand on the page Quality.</p>
<div class="wide" tabindex="0" role="group" aria-label="Table: Checks"><table><caption>Checks of the newest snapshot</caption>
<thead><tr><th scope="col">check</th><th scope="col">state</th><th scope="col">found</th><th scope="col">expected</th></tr></thead>
<tbody>
${lines}</tbody></table></div>
`
}
