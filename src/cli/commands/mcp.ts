/** `mcp`: offers a lake to agents by the Model Context Protocol, on standard input and output. */

import type { Command } from 'commander'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { EXPECTATIONS } from '../../options/expectations.ts'
import { MCP } from '../../options/mcp.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { note } from '../output/print.ts'

export const addMcp = (program: Command): void => {
  addCommand(program, {
    name: 'mcp',
    summary: 'offer a lake to agents (Model Context Protocol)',
    description:
      'A client such as Claude or an editor starts it and asks by standard input and output: it finds companies, reads figures, ' +
      'owners and restatements, and runs read-only queries over the newest snapshot. It writes nothing. Protected persons ' +
      'are masked in all tools but "query", which sees what you see; --no-query leaves it out.',
    options: MCP,
    run: runMcp,
    examples: [
      ['mcp --lake /data/lake', 'in the settings of a client, with an absolute path'],
      ['mcp --lake s3://bucket/lake --no-query', 'a lake in a bucket, without SQL'],
    ],
  })
}

const runMcp = async (values: ValuesOf<typeof MCP>): Promise<void> => {
  const { lake, query, notes, files, timeoutMs, memoryBytes, threads } = values
  const { serveAgents } = await import('../../mcp/serve-agents.ts')
  const { queryMemory } = await import('../../core/memory-shares.ts')
  const { logError } = await import('../output/report-error.ts')
  await interruptible(
    (signal) =>
      serveAgents(
        {
          ...{ lake, query, notes, files, threads, timeoutMs },
          memoryBytes: queryMemory(memoryBytes, query ? 2 : 1),
          expectations: askedOf(EXPECTATIONS, values),
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
