/** The plan and the result of a pull, for people and for programs. */

import { DEFAULT_CURRENCY } from '../../contract/limits.ts'
import type { PullEntry } from '../../core/partition.ts'
import type { PullReport } from '../../jobs/pull.ts'
import type { PulledWindow } from '../../pull/windows/open-windows.ts'
import type { PullEvent, PullPlan } from '../../pull/windows/pull-settings.ts'
import { formatBytes, formatCount, formatCounted, formatRate } from '../../support/format.ts'
import { note } from './print.ts'
import type { ProgressLine } from './progress-line.ts'
import { textTable } from './text-table.ts'
import { beforeCommit } from './time-left.ts'

type Pulled = PullReport['pull']

/** Windows shown to people; programs get all. */
const MOST_SHOWN = 20

interface PullWatch {
  readonly onEvent: (event: PullEvent) => void
}

/** Shows how far the windows are. */
export const watchPull = (line: ProgressLine): PullWatch => {
  const windows = new Map<string, { records: number; bytes: number; announced: number }>()
  let plan: PullPlan | undefined
  let [done, listed] = [0, 0]
  const startMs = performance.now()
  const sum = (field: 'records' | 'bytes'): number =>
    [...windows.values()].reduce((all, window) => all + window[field], 0)
  const showState = (): void => {
    const [records, planned] = [sum('records'), plan?.planned ?? 0]
    line.show(
      () =>
        [
          `${formatCount(records)} of ${formatCounted(planned, 'record')} pulled`,
          formatBytes(sum('bytes')),
          formatRate(sum('bytes'), (performance.now() - startMs) / 1000),
          `${formatCount(done)}/${formatCounted(plan?.windows.length ?? 0, 'window')}`,
        ].join('  '),
      { amount: beforeCommit(records, planned) },
    )
  }
  return {
    onEvent: (event) => {
      if (event.kind === 'planned') {
        plan = event.plan
        for (const text of planLines(event.plan, event.resumed)) line.log(text)
      } else if (event.kind === 'warning') line.log(`warning: ${event.text}`)
      else if (event.kind === 'listed') {
        listed += event.records
        line.show(() => `${formatCount(listed)} looked through for what no window covers`)
      } else {
        windows.set(event.window, event.checkpoint)
        if (event.kind === 'pulled') done += 1
        showState()
      }
    },
  }
}

const planLines = (plan: PullPlan, resumed: boolean): string[] => [
  ...sinceLines(plan),
  `${formatCounted(plan.announced, 'record')} announced, in ${formatCounted(plan.windows.length, 'window')}` +
    `${plan.windows.length > 1 && plan.field ? ` by ${plan.field}` : ''}${resumed ? ', as planned before' : ''}`,
  ...gapLines(plan),
]

export const sinceLines = ({ since, undated, field }: PullPlan): string[] => {
  if (since === undefined) return []
  if (since.from === undefined) return ['The lake holds no earlier pull of this search: everything is pulled']
  return [
    `Continues from ${since.from}, the day before run ${since.run} pulled this search`,
    ...(undated === undefined
      ? []
      : [
          `warning: ${formatCounted(undated, 'record')} without ${field ?? 'the date'}: no day finds their changes, ` +
            'a pull without --since does',
        ]),
  ]
}

/** The gap that no window covers, in words, and how it is closed. */
export const gapLines = ({ announced, planned, field, gaps = [], closing }: PullPlan): string[] => {
  if (announced <= planned) return []
  const records = `${formatCounted(announced - planned, 'record')} of ${formatCount(announced)} not covered by any window`
  if (closing === undefined || closing.steps.length === 0)
    return [`warning: ${records}: without ${field ?? 'any date'} or a value to cut by; batch files hold them`]
  const list = (names: readonly string[]): string => [...new Set(names)].join(', ')
  return [
    `${records}, without ${list(gaps.map(({ parameter }) => parameter))}; lists by ` +
      `${list(closing.steps.map(({ by }) => by))} find at most ${formatCount(closing.expected)} of them`,
  ]
}

/** The rest of a gap that was to be closed, and announced records that did not come. */
const leftLines = ({ gapLeft = 0, announced }: PullEntry, { closing }: PullPlan): string[] => {
  if (gapLeft === 0) return []
  const why =
    closing === undefined
      ? 'announced and not received'
      : 'not covered by any window, and not found along other dates, codes or figures either'
  return [
    `warning: ${formatCounted(gapLeft, 'record')} of ${formatCount(announced)} ${why}; batch files hold them`,
  ]
}

const windowTable = (windows: readonly PulledWindow[]): string[] => {
  const table = textTable(
    [{ title: 'window' }, ...['announced', 'received', 'pages'].map((title) => ({ title, right: true }))],
    windows
      .slice(0, MOST_SHOWN)
      .map(({ name, announced, received, pages }) => [
        name,
        formatCount(announced),
        formatCount(received),
        formatCount(pages),
      ]),
  )
  const more = windows.length - MOST_SHOWN
  return more > 0 ? [...table, `… and ${formatCounted(more, 'window')} more`] : table
}

/** A search with a misspelt value looks like one that has nothing: it is reported, not only counted. */
export const nothingFound = (content: string, since?: string): string =>
  since === undefined
    ? `Nothing found: the service has no ${content} of this search; check its values`
    : `Nothing found: no ${content} of this search since ${since}`

/** Said where --change-currency was needed. */
export const currencyLines = ({
  entry,
  currencyBefore,
}: Pick<Pulled, 'entry' | 'currencyBefore'>): string[] =>
  currencyBefore === undefined
    ? []
    : [
        `The last pull of this search was in ${currencyBefore}, this one is in ${entry.currency ?? DEFAULT_CURRENCY}`,
      ]

export const pullLines = (pulled: Pulled): string[] => {
  const { entry, windows, counters } = pulled
  return [
    ...windowTable(windows),
    '',
    ...(entry.received === 0 ? [nothingFound(entry.content, entry.from)] : []),
    `${formatCount(entry.received)} of ${formatCount(entry.announced)} ${entry.content} received, ` +
      `${formatCounted(counters.requests, 'request')} (${formatCount(counters.retries)} again, ` +
      `${formatCount(counters.throttled)} throttled), ${formatBytes(counters.bytes)}`,
    ...currencyLines(pulled),
  ]
}

export const warnOfPull = ({ plan, entry }: Pick<Pulled, 'plan' | 'entry'>): void => {
  const isPlanned = plan.closing === undefined && plan.announced > plan.planned
  for (const text of isPlanned ? gapLines(plan) : leftLines(entry, plan)) note(text)
}

export const pullJson = ({ entry, plan, windows, counters, currencyBefore }: Pulled): object => ({
  ...entry,
  ...(currencyBefore !== undefined && { currencyBefore }),
  nothingFound: entry.received === 0,
  gap: entry.gapLeft ?? 0,
  ...(plan.since && { since: plan.since.from ?? null }),
  ...(plan.undated !== undefined && { undated: plan.undated }),
  probes: plan.probes + (plan.closing?.probes ?? 0),
  windows,
  ...counters,
})
