/** `plan`: how a search is cut into windows, before anything is pulled. */

import type { Command } from 'commander'
import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { recordedSearch } from '../../manifest/form/sources.ts'
import type { LakePulls } from '../../manifest/snapshots/snapshots.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { PLAN } from '../../options/search.ts'
import type { PlanEstimate } from '../../pull/windows/plan-pull.ts'
import type { PullPlan } from '../../pull/windows/pull-settings.ts'
import { searchLabel } from '../../source/service/page-request.ts'
import { formatCount, formatCounted, formatDuration } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { readingSearch } from '../options/pull-options.ts'
import { serviceOf } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { gapLines, sinceLines } from '../output/pull-report.ts'
import { textTable } from '../output/text-table.ts'

type PlanValues = ValuesOf<typeof PLAN>

export const addPlan = (program: Command): void => {
  addCommand(program, {
    name: 'plan',
    summary: 'show how a search would be pulled, and how long it takes',
    description:
      'Asks the service for counts only and shows into which windows a pull would cut the search, how many ' +
      'requests and how much time it would take, what no window covers, and whether batch files are the ' +
      'better way. With --parameters prints the search parameters that the service has now.',
    options: PLAN,
    run: runPlan,
    examples: [
      [`plan companies --search '{"CountryCode":["SE","NO"]}'`, 'cut by ContentUpdatedAt where it must be'],
      ['plan companies --parameters', 'what can be searched for'],
      [`plan companies --search @search.json --by CompanyInfoUpdatedAt --cap 50000`, 'smaller windows'],
    ],
  })
}

const snapshotOf = async ({ lake, since }: PlanValues): Promise<LakePulls> => {
  if (since !== 'last') return null
  if (lake === undefined)
    throw new ToolkitError('USAGE', 'Cannot plan --since last: give the --lake that it continues')
  const { newestPulls } = await import('../../manifest/snapshots/snapshots.ts')
  return newestPulls(lake)
}

const runPlan = async ({ search, ...asked }: PlanValues): Promise<void> => {
  if (asked.parameters) {
    const { printParameters } = await import('../output/parameters.ts')
    return printParameters(asked)
  }
  if (search === undefined)
    throw new ToolkitError('USAGE', 'Cannot plan without a search: expected --search, or --parameters')
  const options = { ...asked, search }
  const { askedByPull } = await import('../../jobs/pull.ts')
  const settings = askedByPull(await readingSearch(options))
  const { estimatePlan, planPull } = await import('../../pull/windows/plan-pull.ts')
  const snapshot = await snapshotOf(options)
  const service = await serviceOf(options)
  try {
    const plan = await interruptible((signal) => planPull(service, settings, snapshot, { signal }))
    const estimate = estimatePlan(plan, {
      pageSize: options.pageSize,
      concurrency: options.concurrency,
      requestsPerSecond: options.maxRequestsPerSecond,
    })
    if (options.json)
      return await printJson({ ...shownPlan(plan), gap: plan.announced - plan.planned, ...estimate })
    await printLines(planText(options.content, plan, estimate))
  } finally {
    await service.close()
  }
}

/** The requests that look for companies outside all windows. */
const closingLines = ({ closing }: PlanEstimate): string[] =>
  closing === undefined
    ? []
    : [
        `Of the requests at most ${formatCount(closing.lists)} list companies to find those, and ` +
          `${formatCount(closing.pages)} fetch them (--no-close-gap leaves them out)`,
      ]

/** A plan stands in logs: its searches say of persons' numbers only how many. */
const shownPlan = ({ windows, gaps, ...plan }: PullPlan): PullPlan => {
  const shown = <Searching extends { readonly search: SearchParameters }>(one: Searching): Searching => ({
    ...one,
    search: recordedSearch(one.search),
  })
  return { ...plan, windows: windows.map(shown), ...(gaps && { gaps: gaps.map(shown) }) }
}

/** A search for hundreds of ids shows only how many they are. */
const windowText = (search: SearchParameters): string => {
  const text = JSON.stringify(recordedSearch(search))
  return text.length <= MOST_TEXT ? text : searchLabel(search)
}
const MOST_TEXT = 200

const planText = (content: Content, plan: PullPlan, estimate: PlanEstimate): string[] => [
  ...sinceLines(plan),
  `${formatCount(plan.announced)} ${content} in ${formatCounted(plan.windows.length, 'window')}` +
    `${plan.field === undefined ? '' : ` by ${plan.field}`}; ${formatCounted(plan.probes + (plan.closing?.probes ?? 0), 'count')} asked for`,
  '',
  ...textTable(
    [{ title: 'window' }, { title: content, right: true }],
    plan.windows.map(({ search, announced }) => [windowText(search), formatCount(announced)]),
  ),
  '',
  `At most ${formatCounted(estimate.requests, 'request')}, at least ${formatDuration(estimate.seconds)}: ` +
    'as if each page came as quickly as a count',
  ...gapLines(plan),
  ...closingLines(estimate),
  ...(estimate.batchFiles === undefined
    ? []
    : [`Batch files are the better way: ${estimate.batchFiles}; see "firmlake batches list"`]),
]
