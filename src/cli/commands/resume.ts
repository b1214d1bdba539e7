/** `resume`: resumes runs whose process is gone. */

import type { Command } from 'commander'
import type { ResumedRun } from '../../jobs/resume.ts'
import type { RunSummary } from '../../manifest/runs/runs.ts'
import { refuseWhileHeld } from '../../manifest/snapshots/held.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { RESUME } from '../../options/resume.ts'
import { addCommand } from '../add-command.ts'
import { exitCodeOfReports } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { plannedService } from '../options/service-options.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { logError } from '../output/report-error.ts'
import { reportLines, warnOf, warnOfNoViews } from '../output/run-report.ts'
import { watchRun } from '../output/watch-run.ts'
import { checkTargetsOf, loadCheckOfFile, updateTargetsOf } from '../run-job.ts'

type Values = ValuesOf<typeof RESUME>

export const addResume = (program: Command): void => {
  addCommand(program, {
    name: 'resume',
    summary: 'resume interrupted runs',
    description:
      'Resumes a run whose process is gone, at its last finished partition; without RUN all of them. ' +
      'Live runs are left alone, and without RUN also those that would fail again; it says why.',
    options: RESUME,
    run: runResume,
    examples: [
      ['resume --lake ./lake', 'every interrupted run'],
      ['resume 20261121T094920744Z-54d23e --lake ./lake --max-quarantined 5%', 'one run, less strict'],
    ],
  })
}

const runResume = async (values: Values, command: Command): Promise<void> => {
  const { lake, json, run } = values
  await checkTargetsOf(values)
  const { sortUnfinished } = await import('../../jobs/resume.ts')
  await refuseWhileHeld(lake)
  // A run was refused with the limit of the file.
  const isNew = command.getOptionValueSource('maxQuarantined') === 'cli'
  const strictness = { ...values, maxQuarantined: isNew ? values.maxQuarantined : undefined }
  const { resumable, working, final: refused } = await sortUnfinished(lake, strictness)
  // A run that can only fail again is resumed when its id is given.
  const final = run === undefined ? refused : []
  if (!json && run === undefined) for (const one of working) note(aloneText(one))
  if (!json && final.length > 0) {
    const { failureLines } = await import('../output/status-lines.ts')
    for (const line of failureLines(final)) note(line)
  }
  const outcomes = await resumeAll(run === undefined ? resumable : [run], values)
  await show(outcomes, { working, final }, values)
  const failures = outcomes.flatMap((one) => (one.kind === 'failed' ? [one.error] : []))
  // A run that failed does not keep the committed ones from being delivered.
  await updateTargetsOf(values).catch((error: unknown) => failures.push(error))
  const reports = outcomes.flatMap((one) => (one.kind === 'loaded' ? [one.report] : []))
  const { notDeliveredError } = await import('../../run/load-job.ts')
  const missing = reports.flatMap((one) => one.missing ?? [])
  // Whatever failed as a whole decides on the exit code.
  if (missing.length > 0) failures.unshift(notDeliveredError(missing))
  if (failures.length === 0) {
    process.exitCode = exitCodeOfReports(reports)
    return
  }
  for (const error of failures.slice(0, -1)) logError(error, { json: json === true, debug: false })
  throw failures.at(-1)
}

/** A run that cannot be resumed does not stop the others; a signal does. */
const resumeAll = async (runs: readonly string[], values: Values): Promise<ResumedRun[]> => {
  const { resumeOne } = await import('../../jobs/resume.ts')
  const outcomes: ResumedRun[] = []
  const service = (url: string) => plannedService(values, url)
  const check = values.checked ? await loadCheckOfFile() : undefined
  const { writingLakeFilesOnce } = await import('../../manifest/lake-file/lake-file.ts')
  const resumeThem = async (signal: AbortSignal): Promise<void> => {
    for (const run of runs) {
      const line = new ProgressLine({ terminalOnly: values.json === true })
      try {
        outcomes.push(
          await resumeOne(run, {
            ...{ ...askedOf(RESUME, values), service, signal },
            onEvent: watchRun(line),
            check,
          }),
        )
      } catch (error) {
        if (signal.aborted) throw error
        outcomes.push({ kind: 'failed', run, error })
      } finally {
        line.clear()
      }
    }
  }
  await interruptible((signal) => writingLakeFilesOnce(() => resumeThem(signal), warnOfNoViews))
  return outcomes
}

const show = async (
  outcomes: readonly ResumedRun[],
  { working, final }: { readonly working: readonly RunSummary[]; readonly final: readonly RunSummary[] },
  { lake, json }: Values,
): Promise<void> => {
  const reports = outcomes.flatMap((one) => (one.kind === 'loaded' ? [one.report] : []))
  const committed = outcomes.filter((one) => one.kind === 'committed')
  if (json) {
    const failed = outcomes.flatMap((one) => (one.kind === 'failed' ? [one.run] : []))
    const others = { committed: committed.map(({ run, snapshot }) => ({ run, snapshot })), failed }
    return printJson({
      lake,
      resumed: reports,
      ...others,
      working: working.map(({ run }) => run),
      notResumed: final.map(({ run, failure }) => ({ run, failure })),
    })
  }
  if (outcomes.length === 0)
    await printLines([
      final.length > 0
        ? 'Nothing to resume: the runs that failed would fail again.'
        : 'Nothing to resume: no run was interrupted.',
    ])
  for (const { run, snapshot } of committed)
    await printLines([`Run ${run} was complete: snapshot ${snapshot} shows it. Its folder is removed.`])
  for (const report of reports) {
    await printLines(reportLines(report))
    warnOf(report, lake)
  }
}

const aloneText = ({ run, state, process, shared }: RunSummary): string => {
  if (shared)
    return `Run ${run} is left alone: many machines may work on it, see "firmlake run status ${run}"`
  const who = process ? `process ${process.pid} on ${process.host}` : 'its process'
  return state === 'live'
    ? `Run ${run} is left alone: ${who} is running it`
    : `Run ${run} is left alone: ${who} cannot be seen from here`
}
