/** Options of `mcp`. */

import { FILES, LAKE, MEMORY, THREADS } from './common.ts'
import { type OptionTable, withDefault } from './entry.ts'
import { EXPECTATIONS } from './expectations.ts'
import { seconds, trueOrFalse } from './value-types.ts'

export const MCP = {
  lake: LAKE,
  query: withDefault(
    trueOrFalse,
    'offer the tool "query"',
    { value: true, text: 'true' },
    { no: 'leave out the tool "query"' },
  ),
  notes: withDefault(
    trueOrFalse,
    'notes on sums that add what does not add up',
    { value: true, text: 'true' },
    { no: 'answer queries without notes on sums that add what does not add up' },
  ),
  files: FILES,
  timeoutMs: withDefault(seconds, 'longest time of one answer', '30', { flag: '--query-timeout' }),
  ...EXPECTATIONS,
  memoryBytes: MEMORY,
  threads: THREADS,
} as const satisfies OptionTable
