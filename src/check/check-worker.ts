/** A thread that checks blocks, one after the other, and what passes between it and the one that feeds it. Loads no DuckDB. */

import { parentPort, workerData } from 'node:worker_threads'
import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/lines.ts'
import { type BlockMessage, BlockRows } from '../rows/block-rows.ts'
import type { KeyTable } from '../rows/key-table.ts'
import { newSeenSets, type SeenSets } from '../rows/seen-sets.ts'
import { type CheckedBlock, checkBlock } from './check-block.ts'
import type { CheckOptions } from './drift/check-options.ts'
import { RecordChecker } from './record/check-record.ts'

export interface CheckTask {
  readonly content: Content
  readonly listAllItems: boolean
  /** The bytes are shared memory: neither side copies them. */
  readonly block: Omit<Block, 'release' | 'bytes'> & { readonly bytes: Uint8Array }
  /** Rows whose memory is used again. */
  readonly rows: BlockMessage | undefined
}

/** Names that a set has got since the answer before. */
export interface MoreNames {
  readonly names: readonly string[]
  readonly full: boolean
}

export interface CheckAnswer {
  readonly checked: Omit<CheckedBlock, 'parts'>
  /** Numbers of the records of each part. */
  readonly parts: readonly (readonly number[])[]
  readonly rows: BlockMessage
  readonly names: Readonly<Record<keyof SeenSets, MoreNames>>
}

const port = parentPort
if (port === null) throw new TypeError('Cannot check blocks: this file is started as a thread')
const settings: CheckOptions = workerData
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
