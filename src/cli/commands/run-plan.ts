/** `run plan`: cuts what there is to load into units of work. */

import type { Command } from 'commander'
import type { RunLoad } from '../../jobs/steps/run-steps.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { PLAN_BATCH_FILES, PLAN_FILES, PLAN_PULL, PLAN_SYNC, RUN_PLAN } from '../../options/steps.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import type { LakeOption } from '../options/options.ts'
import { projectionOf } from '../options/projection-options.ts'
import { readingSearch } from '../options/pull-options.ts'
import { checkMode } from '../options/run-options.ts'
import { withService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'

const addConvert = (group: Command): void => {
  addCommand(group, {
    name: 'convert',
    summary: 'files',
    description:
      'Plans a run over files: consecutive small ones are one unit, a large one is several ranges of its blocks. ' +
      'Files that the lake already holds are skipped. Every machine that works on the run must find the files under ' +
      'the same paths.',
    options: PLAN_FILES,
    run: ({ from, content, asOf, maxLineBytes, maxRatio, maxDepth, ...values }) =>
      plan(values, { load: 'convert', from, content, asOf, maxLineBytes, maxRatio, maxDepth }),
    examples: [['run plan convert batches/ --lake s3://bucket/lake --json', 'a folder']],
  })
}

const addPull = (group: Command): void => {
  addCommand(group, {
    name: 'pull',
    summary: 'what a search finds at the service',
    description:
      'Plans a pull: a window is a unit; windows that still grow are a phase of their own. ' +
      '--max-requests-per-second is of all workers together, and each takes its share.',
    options: PLAN_PULL,
    run: async (given) => {
      const values = await readingSearch(given)
      const { content, search, currency, since, until, by, closeGap, cap, pageSize } = values
      const asked = { content, search, currency, since, until, by, closeGap, cap, pageSize }
      await withService(values, (from) => plan(values, { load: 'pull', from, ...asked }))
    },
    examples: [
      [
        `run plan pull companies --lake s3://bucket/lake --search '{"CountryCode":["SE"]}' --max-requests-per-second 20`,
        'all of a country, by workers that share 20 requests a second',
      ],
    ],
  })
}

const addSync = (group: Command): void => {
  addCommand(group, {
    name: 'sync',
    summary: 'the companies of a search that are new or changed',
    description:
      'Plans a sync: lists the companies of the search and compares them with the lake, now and on this machine; what ' +
      'is new or changed is fetched by the workers.',
    options: PLAN_SYNC,
    run: async (given) => {
      const values = await readingSearch(given)
      const { search, currency, by, closeGap } = values
      await withService(values, (from) =>
        plan(values, { load: 'sync', from, search, currency, by, closeGap }),
      )
    },
    examples: [[`run plan sync --lake ./lake --search '{"CountryCode":["SE"]}'`, 'a country']],
  })
}

const addBatches = (group: Command): void => {
  addCommand(group, {
    name: 'batches',
    summary: 'batch files of the service',
    description:
      'Plans a pull of batch files: a file is a unit. Without ids all that the lake does not hold.',
    options: PLAN_BATCH_FILES,
    run: async (values) => {
      const { ids = [], content, countries } = values
      const { batchFiles } = await import('../../jobs/common/inputs.ts')
      const choice = ids.length > 0 ? { ids, content, countries } : { content, countries }
      await withService(values, (service) =>
        plan(values, { load: 'batches', from: batchFiles(service, choice) }),
      )
    },
    examples: [['run plan batches --lake ./lake --country SE,NO', 'whatever is new of two countries']],
  })
}

export const addRunPlan = (group: Command): void => {
  const command = group
    .command('plan')
    .summary('cut what there is to load into units')
    .description(
      'Cuts what there is to load into units of work and stores them in the lake. Loads nothing. The same plan again ' +
        'gives the run that is there, as long as it is not finished.',
    )
  addConvert(command)
  addPull(command)
  addSync(command)
  addBatches(command)
}

const plan = async (
  values: LakeOption & Partial<ValuesOf<typeof RUN_PLAN>>,
  load: RunLoad,
): Promise<void> => {
  await checkMode(values)
  const { lake, json } = values
  const { planRun } = await import('../../jobs/steps/run-steps.ts')
  const planned = await interruptible(
    (signal) => planRun({ ...askedOf(RUN_PLAN, values), ...load, take: projectionOf(values), signal }),
    'no run is begun',
  )
  if (json) return printJson({ lake, ...planned })
  const { run, units, phases, existing, skipped } = planned
  const counts = phases.map(({ count }) => formatCount(count)).join(' + ')
  await printLines([
    ...(run === null
      ? ['Nothing to load: no run was begun.']
      : [
          `${existing ? 'The run is there already' : 'Planned run'}: ${run}`,
          `${formatCounted(units, 'unit')}${phases.length > 1 ? ` in ${formatCounted(phases.length, 'phase')} (${counts})` : ''}`,
        ]),
    ...(skipped.length > 0
      ? ['', 'Skipped:', ...skipped.map((one) => `  ${one.source}: ${one.reason}`)]
      : []),
  ])
}
