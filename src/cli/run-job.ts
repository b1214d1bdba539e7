/**
 * Runs a job of the library for a command: options of the command line become those of the job, progress is shown, Ctrl-C
 * stops it, and its result is printed when the lake is committed, whatever happens to its targets.
 */

import { EXIT } from '../core/exit-codes.ts'
import type { COMPACT } from '../options/compact.ts'
import type { CONVERT } from '../options/convert.ts'
import { takenBy, type ValuesOf } from '../options/entry.ts'
import type { CommonOptions, LoadCheck, LoadOptions } from '../options/interfaces.ts'
import type { RunReport } from '../run/run-report.ts'
import { formatCount, formatCounted } from '../support/format.ts'
import type { TargetEvent } from '../targets/update-targets.ts'
import { loadedConfig } from './config/loaded-config.ts'
import { exitCodeOfReports } from './help.ts'
import { interruptible, KEPT } from './interrupt.ts'
import { isAsked, type LakeOption } from './options/options.ts'
import { type LakeProjectionFlags, projectionOf } from './options/projection-options.ts'
import { checkMode } from './options/run-options.ts'
import { note, printJson, printLines } from './output/print.ts'
import { ProgressLine } from './output/progress-line.ts'
import { reportLines, warnOf } from './output/run-report.ts'
import { amountOfThings } from './output/time-left.ts'
import { watchRun } from './output/watch-run.ts'

type Given<Values, Name extends keyof Values> = { readonly [One in Name]?: Values[One] | undefined }

/** The values of a command that updates targets, by the names of its table. */
export type JobValues = LakeOption &
  Given<
    ValuesOf<typeof COMPACT>,
    'sinks' | 'publish' | 'adopt' | 'overwrite' | 'json' | 'memoryBytes' | 'threads' | 'localBytes'
  >

/** Shows how far publications and sinks are, and what a person should know of them. */
const showTargets =
  (line: ProgressLine) =>
  (event: TargetEvent): void => {
    if (event.kind === 'publishing') {
      const { snapshots, snapshotsTotal, table } = event.progress
      line.show(
        () => `Publishing  ${formatCount(snapshots)}/${formatCounted(snapshotsTotal, 'snapshot')}  ${table}`,
        { amount: amountOfThings(snapshots, snapshotsTotal, 'publishing') },
      )
    } else if (event.kind === 'published') {
      line.log(`Published snapshot ${event.summary.snapshot} as ${event.formats.join(', ')}`)
    } else if (event.kind === 'delivering') {
      const { sink, runsDone, runs, rows, loading } = event.progress
      line.show(
        () =>
          `${loading ? 'Loading into' : 'Delivering to'} ${sink}  ${formatCount(runsDone)}/${formatCounted(runs, 'run')}  ` +
          formatCounted(rows, 'row'),
        { amount: amountOfThings(runsDone, runs, sink) },
      )
    } else if (event.kind === 'delivered') {
      for (const { sink, runs, rows } of event.delivered)
        if (runs.length > 0)
          line.log(`Delivered ${formatCounted(runs.length, 'run')} to ${sink}: ${formatCounted(rows, 'row')}`)
      for (const warning of event.delivered.flatMap(({ warnings }) => warnings)) note(`warning: ${warning}`)
    } else note(`error ${event.error instanceof Error ? event.error.message : String(event.error)}`)
  }

/** The targets that the values name, with what `firmlake.toml` says that sinks receive. @throws {ToolkitError} USAGE */
const targetsOf = async ({ lake, publish, sinks, adopt, overwrite }: JobValues) => {
  const section = loadedConfig().file?.settings.sink_take
  const sinkTake = section && (await import('../jobs/projection-section.ts')).projectionOfSection(section)
  const targets = { lake, sinks, sinkTake, adopt, overwrite }
  if (publish === undefined || publish.length === 0) return targets
  const { catalogFromEnvironment } = await import('../targets/catalog-environment.ts')
  return { ...targets, publish, catalog: catalogFromEnvironment() }
}

const PUBLISHED_KEPT = 'what is published and delivered is kept'

/**
 * @param job the job of the library, with the options that every job takes
 * @param print the result on standard output, and its warnings
 * @param meanwhile the note when the job is interrupted before its commit
 */
export const runJob = async <Done>(
  values: JobValues,
  job: (options: CommonOptions<Done>, line: ProgressLine) => Promise<unknown>,
  print: (done: Done) => Promise<void>,
  meanwhile = KEPT,
): Promise<void> => {
  const targets = await targetsOf(values)
  const line = new ProgressLine({ terminalOnly: values.json === true })
  let committed = false
  const onCommitted = async (done: Done): Promise<void> => {
    committed = true
    line.clear()
    await print(done)
  }
  const { memoryBytes, threads, localBytes } = values
  const options = { ...targets, memoryBytes, threads, localBytes, onCommitted }
  try {
    await interruptible(
      (signal) => job({ ...options, signal, onTarget: showTargets(line) }, line),
      () => (committed ? PUBLISHED_KEPT : meanwhile),
    )
  } finally {
    line.clear()
  }
}

/** Updates the targets that the flags name, for a command that has committed by itself. */
export const updateTargetsOf = async (values: JobValues): Promise<void> => {
  if (!values.publish && !values.sinks) return
  const { updateTargets } = await import('../targets/update-targets.ts')
  const { UPDATE_TARGETS } = await import('../options/publish.ts')
  const update = (options: CommonOptions<void>): Promise<unknown> =>
    updateTargets(takenBy(UPDATE_TARGETS, options))
  await runJob(values, update, async () => undefined, PUBLISHED_KEPT)
}

/** Refuses wrong `--sink` and `--publish` before anything is loaded. @throws {ToolkitError} USAGE, TARGET_REFUSED */
export const checkTargetsOf = async (values: JobValues): Promise<void> => {
  if (!values.publish && !values.sinks) return
  const { checkTargets } = await import('../targets/update-targets.ts')
  await checkTargets(await targetsOf(values))
}

/** The values of a command that loads, by the names of its table. */
export type LoadJobValues = JobValues &
  LakeProjectionFlags & { readonly yes?: boolean | undefined } & Given<
    ValuesOf<typeof CONVERT>,
    | 'mode'
    | 'checked'
    | 'dryRun'
    | 'expectNothing'
    | 'maxQuarantined'
    | 'maxUnknownPerRecord'
    | 'maxUnknownNames'
    | 'changeCurrency'
  >

/** Asks about a lake in an odd place. @returns whether to go on */
const isLakeMeant = async (values: LoadJobValues): Promise<boolean> =>
  !isAsked(values) || (await (await import('./output/ask.ts')).agreesToNewLake(values.lake))

/** The checks of a load that the section `[check]` of the file asks for. */
export const loadCheckOfFile = async (): Promise<LoadCheck> =>
  (await import('../checks/check-section.ts')).loadCheckOf(loadedConfig().file?.settings.check)

/** Runs a job that loads. @param print the result as JSON, or as text @param meanwhile as of `runJob` */
export const runLoadJob = async <Done extends Pick<RunReport, 'excluded' | 'dryRun'>>(
  values: LoadJobValues,
  job: (options: LoadOptions<Done>, line: ProgressLine) => Promise<unknown>,
  print: (done: Done) => Promise<void>,
  meanwhile = KEPT,
): Promise<void> => {
  await checkMode(values)
  const isDry = values.dryRun || values.expectNothing
  if (!isDry && !(await isLakeMeant(values))) return
  if (isDry) note('Dry run: it costs what the load costs, and changes nothing')
  const { mode, maxQuarantined, maxUnknownPerRecord, maxUnknownNames, changeCurrency, changeTaken } = values
  const strictness = { mode, maxQuarantined, maxUnknownPerRecord, maxUnknownNames, changeCurrency }
  const check = values.checked ? await loadCheckOfFile() : undefined
  const load = { ...strictness, take: projectionOf(values), changeTaken, check }
  await runJob<Done>(
    values,
    (options, line) => job({ ...options, ...load, onEvent: watchRun(line) }, line),
    async (done) => {
      process.exitCode =
        values.expectNothing && done.dryRun?.differs ? EXIT.checkFailed : exitCodeOfReports([done])
      await print(done)
    },
    meanwhile,
  )
}

/** The report of a run, as JSON or for people. */
export const printReport = async (
  report: RunReport,
  { lake, json }: LakeOption & { readonly json?: boolean | undefined },
): Promise<void> => {
  if (json) return printJson({ lake, ...report })
  await printLines(reportLines(report))
  warnOf(report, lake)
}
