/** `nightly`: what has changed at the service since the last time, by settings of the environment. */

import type { Command } from 'commander'
import { withExamples } from '../options/options.ts'

export const addNightly = (program: Command): void => {
  const command = program
    .command('nightly')
    .summary('pull what changed since the last time, for a scheduler')
    .description(
      'Pulls companies and relations that changed since the last time in one commit, none where nothing came; then ' +
        'publishes and delivers. Settings are environment variables: FIRMLAKE_URL, FIRMLAKE_TOKEN or FIRMLAKE_TOKEN_FILE, ' +
        'FIRMLAKE_LAKE, FIRMLAKE_SEARCH and others (docs/nightly.md). Prints one line of JSON; an interrupted night is ' +
        'resumed when it is started again.',
    )
    .action(runNightly)
  withExamples(command, [['nightly >> firmlake.jsonl', 'from cron, with the variables set']])
}

const runNightly = async (): Promise<void> => {
  const { nightly } = await import('../../jobs/nightly.ts')
  const { runProgram } = await import('../../jobs/run-program.ts')
  await runProgram((program) => nightly(process.env, program))
}
