/** Tables below the loads: runs without a snapshot, and the receipts of `forget`. */

import { type Html, html } from './html.ts'
import { grouped } from './rows.ts'

/** A run that has not ended in a snapshot. */
export interface OpenRun {
  readonly run: string
  readonly state: string
  /** Why it failed, where it did. */
  readonly reason: string
}

/** One receipt of `forget`; it names nobody. */
export interface ForgetLine {
  /** The snapshot that it made: those before are gone. */
  readonly snapshot: number
  /** ISO 8601, UTC. */
  readonly time: string
  readonly companies: number
  readonly persons: number
  /** Files of one kind that held something of theirs. */
  readonly files: readonly { readonly kind: string; readonly files: number; readonly rows: number }[]
}

export const openRunTable = (runs: readonly OpenRun[]): Html => {
  if (runs.length === 0)
    return html`<h3 id="open-runs">Runs without a snapshot</h3>\n<p class="soft">None is unfinished or has failed.</p>\n`
  const lines = runs.map(
    ({ run, state, reason }) =>
      html`<tr><th scope="row">${run}</th><td>${state}</td><td><bdi>${reason}</bdi></td></tr>\n`,
  )
  return html`<h3 id="open-runs">Runs without a snapshot</h3>
<p>Running, or ended before their commit; “firmlake status” lists them too, “firmlake resume” continues them.</p>
<div class="wide" tabindex="0" role="group" aria-label="Table: Runs without a snapshot"><table><caption>Runs without a snapshot</caption>
<thead><tr><th scope="col">run</th><th scope="col">state</th><th scope="col">why it failed</th></tr></thead>
<tbody>
${lines}</tbody></table></div>
`
}

/** The newest come first. */
const MOST_RECEIPTS = 100

export const receiptTable = (receipts: readonly ForgetLine[]): Html => {
  if (receipts.length === 0) return html``
  const lines = receipts
    .toReversed()
    .slice(0, MOST_RECEIPTS)
    .map(({ snapshot, time, companies, persons, files }) => {
      const rows = files.reduce((sum, one) => sum + one.rows, 0)
      const kinds = files.map(({ kind, files: count }) => `${kind} ${count}`).join(', ')
      return html`<tr><th scope="row">${snapshot}</th><td>${time}</td><td class="n">${grouped(companies)}</td><td class="n">${grouped(persons)}</td><td>${kinds}</td><td class="n">${grouped(rows)}</td></tr>\n`
    })
  return html`<h3 id="forgotten">Forgotten</h3>
<p>How many companies and persons “firmlake forget” has erased; snapshots before are gone. Files and rows were removed or written again.</p>
<div class="wide" tabindex="0" role="group" aria-label="Table: Forgotten"><table><caption>Receipts of what was forgotten</caption>
<thead><tr><th scope="col">snapshot</th><th scope="col">when</th><th scope="col">companies</th><th scope="col">persons</th><th scope="col">files by kind</th><th scope="col">rows</th></tr></thead>
<tbody>
${lines}</tbody></table></div>
`
}
