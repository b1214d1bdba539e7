/** The one verdict of a report: whether it is good, and if not, what failed and where it is shown. */

import { type CheckLine, checkWords } from './checks.ts'
import { type Html, html } from './html.ts'
import type { Numbers } from './numbers.ts'
import type { OpenRun } from './render-loads.ts'
import { counted, instantWords } from './words.ts'

/** Lines below the verdict; the others stand among all checks. */
const MOST = 6

const line = (href: string, said: string, more: string): Html =>
  html`<li><a href="#${href}">${said}</a><span class="soft">${more}</span></li>\n`

const checkLines = (checks: readonly CheckLine[], numbers: Numbers): readonly Html[] =>
  checks.map((check) => {
    const { at, said, allowed } = checkWords(check, numbers)
    return line(at, said, check.status === 'note' ? 'look at it' : `expected: ${allowed}`)
  })

const runLines = ({ run, reason }: OpenRun, snapshot: number): readonly Html[] => [
  html`<li><a href="#open-runs">${reason === '' ? 'It ended before its commit' : 'Why it failed'}</a><span class="soft"><bdi>${reason || run}</bdi></span></li>\n`,
  html`<li><b>The lake is whole</b><span class="soft">everything here is of snapshot ${snapshot}; nothing was half written</span></li>\n`,
  html`<li><b>To continue</b><span class="soft">run the same command again, or <code>firmlake resume ${run}</code></span></li>\n`,
]

/** When a run began, by its id: `20261122T134422123Z-…`. */
const startOf = (run: string): string =>
  run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d).*$/, '$1-$2-$3T$4:$5:$6Z')

const list = (lines: readonly Html[]): Html => {
  const more = lines.length - MOST
  return html`<ul>
${lines.slice(0, MOST)}${more > 0 ? line('checks', `${more} more`, 'among all checks') : html``}</ul>`
}

const shown = (state: 'bad' | 'good', title: string, about: string, lines: readonly Html[]): Html =>
  html`<div class="verdict${state === 'good' ? ' ok' : ''}"><div><h2><span aria-hidden="true">${state === 'good' ? '✔' : '✖'} </span>${title}</h2><p>${about}</p></div>${lines.length === 0 ? html`` : list(lines)}</div>
`

/** The next steps of a reader of an empty lake. */
export const firstSteps = html`<div class="card"><h2>Nothing is loaded yet</h2><p>The lake exists and is sound. Three steps to the first company:</p>
<ol class="steps">
<li><b>1</b><div><h3>Load a file</h3><pre tabindex="0">firmlake convert companies.jsonl --lake ./lake</pre></div></li>
<li><b>2</b><div><h3>See what came</h3><pre tabindex="0">firmlake check --lake ./lake</pre></div></li>
<li><b>3</b><div><h3>Write this page again</h3><pre tabindex="0">firmlake report --lake ./lake --to report.html</pre></div></li>
</ol></div>
`

export interface VerdictFacts {
  readonly checks: readonly CheckLine[]
  /** The newest run, where it ended without a snapshot. */
  readonly failed: OpenRun | undefined
  readonly snapshot: number
}

export const verdict = ({ checks, failed, snapshot }: VerdictFacts, numbers: Numbers): Html => {
  const of = (state: CheckLine['status']): readonly CheckLine[] =>
    checks.filter(({ status }) => status === state)
  const [bad, notes, good] = [of('failed'), of('note'), of('passed')]
  const others = [
    ...(good.length > 0 ? [`${good.length} ${good.length === 1 ? 'is' : 'are'} good`] : []),
    ...(notes.length > 0 ? [`${notes.length} to look at`] : []),
  ].join(', ')
  const ofChecks = `${bad.length} of ${counted(checks.length, 'check')} failed`
  if (failed !== undefined)
    return shown(
      'bad',
      'The newest run failed',
      `${instantWords(startOf(failed.run))}${bad.length > 0 ? `; ${ofChecks}` : ''}`,
      [...runLines(failed, snapshot), ...checkLines(bad, numbers)],
    )
  if (bad.length > 0) return shown('bad', ofChecks, others, checkLines(bad, numbers))
  if (checks.length === 0) return html``
  return shown('good', 'No check failed', others, checkLines(notes, numbers))
}
