/** `run commit`: shows a run whose units are all done. */

import type { Command } from 'commander'
import type { CommitRunReport } from '../../jobs/steps/run-steps.ts'
import { exitCodeOfReports } from '../exit-codes.ts'
import { jsonOption, lakeOption, withExamples } from '../options/options.ts'
import { type LoadFlags, workOptions } from '../options/run-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { watchRun } from '../output/watch-run.ts'
import { type JobFlags, printReport, runJob } from '../run-job.ts'

type CommitFlags = JobFlags & LoadFlags

export const addRunCommit = (group: Command): void => {
  const command = group
    .command('commit')
    .summary('commit a run whose units are all done')
    .description(
      'Commits a run, in one snapshot. Anyone may, again and at once with others: one commit makes the snapshot, and ' +
        'the others find it. With units that are not done it ends with 75 and names the first.',
    )
    .argument('<run>', 'id of the run')
    .addOption(lakeOption())
  for (const option of workOptions()) command.addOption(option)
  command.addOption(jsonOption()).action(commit)
  withExamples(command, [
    ['run commit 20261121T094920744Z-54d23e --lake s3://bucket/lake', 'all of it at once'],
  ])
}

const commit = async (run: string, flags: CommitFlags): Promise<void> => {
  const { lake, json, maxQuarantined, changeCurrency } = flags
  const { commitUnits } = await import('../../jobs/steps/run-steps.ts')
  await runJob<CommitRunReport>(
    flags,
    (options, line) =>
      commitUnits({ ...options, lake, run, maxQuarantined, changeCurrency, onEvent: watchRun(line) }),
    async (done) => {
      if (done.kind === 'committed') {
        process.exitCode = exitCodeOfReports([done])
        return json ? printJson({ lake, ...done }) : printReport(done, flags)
      }
      if (json) return printJson({ lake, ...done })
      await printLines([
        done.snapshot === null
          ? `Run ${run} has ended already: it found nothing new to load.`
          : `Run ${run} is committed already: snapshot ${done.snapshot} shows it.`,
      ])
    },
    'nothing of the run is visible',
  )
}
