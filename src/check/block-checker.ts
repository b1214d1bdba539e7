/** Checks the blocks of a run: on this thread in slices, or on threads of their own. Uses the memory of columns again. */

import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/lines.ts'
import { type BlockMessage, BlockRows } from '../rows/block-rows.ts'
import { newSeenSets } from '../rows/seen-sets.ts'
import { BlockCheck, type CheckedBlock } from './check-block.ts'
import type { CheckThread } from './check-thread.ts'
import type { CheckOptions } from './drift/check-options.ts'
import { RecordChecker } from './record/check-record.ts'

/** A checked block that holds columns until it is released. */
export interface HeldBlock extends CheckedBlock {
  /** Gives the memory of its columns back for later blocks; afterwards nothing may read them. */
  readonly release: () => void
}

/** Checks blocks of one content. */
export interface BlockChecker {
  /** Blocks that it checks side by side. */
  readonly atOnce: number
  check(block: Block): Promise<HeldBlock>
}

export interface CheckerOptions {
  /** Lists all unknown line items, for a sink whose rows cannot be asked for them. @default false */
  readonly listAllItems?: boolean | undefined
}

/** The checkers of a run. */
export interface Checkers {
  /** The checker of a source's blocks. */
  readonly of: (content: Content, options?: CheckerOptions) => BlockChecker
  /** Ends the threads, whatever they are at. */
  readonly close: () => Promise<void>
}

export interface CheckersOptions extends CheckOptions {
  /** Threads that check, beside this one; without any it checks itself. @default 0 */
  readonly threads?: number | undefined
}

/**
 * Bytes that are checked in one go. DuckDB asks for rows on this thread, and a statement waits for as long as a slice
 * takes: with 64 KiB a fifth of a millisecond, as long as DuckDB itself takes for the rows that it is given.
 */
const SLICE_BYTES = 64 * 1024

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const openCheckers = ({ threads = 0, ...options }: CheckersOptions = {}): Checkers =>
  threads > 0 ? threadCheckers(threads, options) : ownCheckers(options)

/** Checkers that work on this thread, and let others have it in between. */
const ownCheckers = (options: CheckOptions): Checkers => {
  const seen = newSeenSets()
  const spare: BlockRows[] = []
  return {
    of: (content, { listAllItems = false } = {}) => {
      const checker = new RecordChecker(content, seen, options)
      checker.listAllItems(listAllItems)
      const check = async (block: Block): Promise<HeldBlock> => {
        const rows = spare.pop() ?? new BlockRows(seen)
        const slices = new BlockCheck(block, checker, rows)
        while (slices.next(SLICE_BYTES)) await nextTurn()
        return { ...slices.end(), release: () => spare.push(rows) }
      }
      return { atOnce: 1, check }
    },
    close: async () => undefined,
  }
}

const startThread = async (options: CheckOptions): Promise<CheckThread> => {
  const { CheckThread } = await import('./check-thread.ts')
  return new CheckThread(options)
}

/** Checkers on threads. A thread is started when there is a block for it. */
const threadCheckers = (threads: number, options: CheckOptions): Checkers => {
  const started: Promise<CheckThread>[] = []
  const idle: CheckThread[] = []
  const waiting: ((thread: CheckThread) => void)[] = []
  const spare: BlockMessage[] = []
  const idleThread = async (): Promise<CheckThread> => {
    const thread = idle.pop()
    if (thread !== undefined) return thread
    if (started.length >= threads) return new Promise((resolve) => waiting.push(resolve))
    const fresh = startThread(options)
    started.push(fresh)
    return fresh
  }
  const done = (thread: CheckThread): void => {
    const next = waiting.shift()
    if (next === undefined) idle.push(thread)
    else next(thread)
  }
  return {
    of: (content, { listAllItems = false } = {}) => ({
      atOnce: threads,
      check: async (block) => {
        const thread = await idleThread()
        try {
          const { rows, ...checked } = await thread.check(block, content, listAllItems, spare.pop())
          return { ...checked, release: () => spare.push(rows.toMessage()) }
        } finally {
          done(thread)
        }
      },
    }),
    close: async () => {
      for (const thread of started) await (await thread).close()
    },
  }
}
