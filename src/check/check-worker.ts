/** A thread that checks blocks, one after the other. Loads no DuckDB. */

import { parentPort, workerData } from 'node:worker_threads'
import { BlockRows } from '../rows/block-rows.ts'
import type { KeyTable } from '../rows/key-table.ts'
import { newSeenSets, type SeenSets } from '../rows/seen-sets.ts'
import { checkBlock } from './check-block.ts'
import type { CheckAnswer, CheckSettings, CheckTask, MoreNames } from './check-messages.ts'
import { RecordChecker } from './record/check-record.ts'

const port = parentPort
if (port === null) throw new TypeError('Cannot check blocks: this file is started as a thread')
const settings: CheckSettings = workerData
const seen = newSeenSets()
const checkers = new Map<string, RecordChecker>()
/** How many names of each set the other side has. */
const sent: Record<keyof SeenSets, number> = { countries: 0, currencies: 0, categories: 0, lineItems: 0 }

const moreOf = (set: keyof SeenSets): MoreNames => {
  const { names, full }: KeyTable = seen[set]
  const more = names.slice(sent[set])
  sent[set] = names.length
  return { names: more, full }
}

port.on('message', ({ content, listAllItems, block, rows: used }: CheckTask) => {
  const checker = checkers.get(content) ?? new RecordChecker(content, seen, settings)
  checkers.set(content, checker)
  checker.listAllItems(listAllItems)
  const rows = new BlockRows(seen)
  if (used !== undefined) rows.adopt(used)
  const { buffer, byteOffset, byteLength } = block.bytes
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const { parts, ...checked } = checkBlock({ ...block, bytes }, checker, rows)
  const answer: CheckAnswer = {
    checked,
    parts: parts.map(({ members }) => members),
    rows: rows.toMessage(),
    names: {
      countries: moreOf('countries'),
      currencies: moreOf('currencies'),
      categories: moreOf('categories'),
      lineItems: moreOf('lineItems'),
    },
  }
  port.postMessage(answer)
})
