/** Tables below the loads: runs without a snapshot, and the receipts of `forget`. */

import { type Html, html } from './html.ts'
import type { Numbers } from './numbers.ts'
import { counted, instantTime } from './words.ts'

/** A run that has not ended in a snapshot. */
export interface OpenRun {
  readonly run: string
  readonly state: string
  /** Why it failed, where it did. */
  readonly reason: string
}

/** A receipt of `forget`; it names nobody. */
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

/** @param isOpen whether the newest run is one of them */
export const openRunTable = (runs: readonly OpenRun[], isOpen: boolean): Html => {
  if (runs.length === 0) return html``
  const lines = runs.map(
    ({ run, state, reason }) =>
      html`<tr><th scope="row">${run}</th><td>${state}</td><td class="l"><bdi>${reason}</bdi></td></tr>\n`,
  )
  return html`<details${isOpen ? html` open` : html``}><summary><h3 id="open-runs">${counted(runs.length, 'run')} without a snapshot</h3></summary><div class="card">
<p class="about">Running, or ended before their commit; “firmlake status” lists them too, “firmlake resume” continues them.</p>
<div class="wide" tabindex="0" role="group" aria-label="Table: Runs without a snapshot"><table><caption class="vh">Runs without a snapshot</caption>
<thead><tr><th scope="col">Run</th><th scope="col">State</th><th scope="col">Why it failed</th></tr></thead>
<tbody>
${lines}</tbody></table></div></div></details>
`
}

/** The newest come first. */
const MOST_RECEIPTS = 100

export const receiptTable = (receipts: readonly ForgetLine[], numbers: Numbers): Html => {
  if (receipts.length === 0) return html``
  const lines = receipts
    .toReversed()
    .slice(0, MOST_RECEIPTS)
    .map(({ snapshot, time, companies, persons, files }) => {
      const rows = files.reduce((sum, one) => sum + one.rows, 0)
      const kinds = files.map(({ kind, files: count }) => `${kind} ${count}`).join(', ')
      return html`<tr><th scope="row">${snapshot}</th><td>${instantTime(time)}</td><td class="n">${numbers.whole(companies)}</td><td class="n">${numbers.whole(persons)}</td><td>${kinds}</td><td class="n">${numbers.whole(rows)}</td></tr>\n`
    })
  return html`<details><summary><h3 id="forgotten">Forgotten</h3></summary><div class="card">
<p class="about">How many companies and persons “firmlake forget” has erased; snapshots before are gone. Files and rows were removed or written again.</p>
<div class="wide" tabindex="0" role="group" aria-label="Table: Forgotten"><table><caption class="vh">Receipts of what was forgotten</caption>
<thead><tr><th scope="col">Snapshot</th><th scope="col">When</th><th scope="col" class="n">Companies</th><th scope="col" class="n">Persons</th><th scope="col">Files by kind</th><th scope="col" class="n">Rows</th></tr></thead>
<tbody>
${lines}</tbody></table></div></div></details>
`
}
