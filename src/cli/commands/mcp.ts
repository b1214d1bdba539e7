/** `mcp`: offers a lake to agents by the Model Context Protocol, on standard input and output. */

import type { Command } from 'commander'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import {
  addExpectationOptions,
  type ExpectationFlags,
  expectationsOf,
} from '../options/expectation-options.ts'
import { filesOption, type LakeOption, lakeOption, wholeNumber } from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { note } from '../output/print.ts'

interface McpFlags extends LakeOption, ExpectationFlags {
  /** `--no-query` makes it false. */
  readonly query: boolean
  readonly files?: string
  readonly queryTimeout: number
  readonly memory: number
  readonly threads: number
}

const QUERY_SECONDS = 30

export const addMcp = (program: Command): void => {
  const command = program
    .command('mcp')
    .summary('offer a lake to agents (Model Context Protocol)')
    .description(
      'A client such as Claude or an editor starts it and asks by standard input and output: it finds companies, reads figures, ' +
        'owners and restatements, and runs read-only queries over the newest snapshot. It writes nothing. Protected persons ' +
        'are masked in all tools but "query", which sees what you see; --no-query leaves it out.',
    )
    .addOption(lakeOption())
    .option('--no-query', 'leave out the tool "query"')
    .addOption(filesOption())
    .option(
      '--query-timeout <seconds>',
      'longest time of one answer',
      wholeNumber('--query-timeout'),
      QUERY_SECONDS,
    )
  addExpectationOptions(command).addOption(memoryOption()).addOption(threadsOption()).action(runMcp)
  withExamples(command, [
    ['mcp --lake /data/lake', 'in the settings of a client, with an absolute path'],
    ['mcp --lake s3://bucket/lake --no-query', 'a lake in a bucket, without SQL'],
  ])
}

const runMcp = async (options: McpFlags): Promise<void> => {
  const { lake, query, files, queryTimeout, memory, threads } = options
  const { serveAgents } = await import('../../mcp/serve-agents.ts')
  const { queryMemory } = await import('../../core/memory-shares.ts')
  const { logError } = await import('../output/report-error.ts')
  await interruptible(
    (signal) =>
      serveAgents(
        {
          ...{ lake, query, files, threads },
          timeoutMs: queryTimeout * 1000,
          memoryBytes: queryMemory(memory, query ? 2 : 1),
          expectations: expectationsOf(options),
          onReady: (snapshot) =>
            note(`Answering about snapshot ${snapshot} of ${lake} on standard input and output`),
          onUnexpected: (error) =>
            logError(error, { json: false, debug: Boolean(process.env.FIRMLAKE_DEBUG) }),
        },
        signal,
      ),
    'the client is not answered any more',
  )
}
