/** `run` and its sub-commands: a run in steps that any machine can take. */

import type { Command } from 'commander'
import { addRunCommit } from './run-commit.ts'
import { addRunPlan } from './run-plan.ts'
import { addRunCancel, addRunStatus } from './run-status.ts'
import { addRunWork } from './run-work.ts'

export const addRun = (program: Command): void => {
  const group = program
    .command('run')
    .summary('plan a run, work on it on many machines, commit it')
    .description(
      'A run in steps: planned once, worked on by any number of processes on any machine that reaches the lake, ' +
        'committed by anyone. Exit codes for whoever schedules the steps: 0 done, 1 failed and may be tried again, ' +
        '75 later; never retry 2 (usage), 3 (too many bad lines) and 4 (the same again fails the same).',
    )
  addRunPlan(group)
  addRunWork(group)
  addRunCommit(group)
  addRunStatus(group)
  addRunCancel(group)
}
