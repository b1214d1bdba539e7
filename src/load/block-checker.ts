/** Checks the blocks of a run, and uses the memory of their columns again. */

import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/block.ts'
import { BlockRows } from './block-rows.ts'
import { BlockCheck, type CheckedBlock } from './check-block.ts'
import { type CheckOptions, RecordChecker } from './check-record.ts'
import { newSeenSets } from './seen-sets.ts'

/** A checked block that holds columns until they are given back. */
export interface HeldBlock extends CheckedBlock {
  /** Gives the memory of its columns back for later blocks; afterwards nothing may read them. */
  readonly release: () => void
}

/** Checks blocks of one content. */
export interface BlockChecker {
  check(block: Block): Promise<HeldBlock>
}

export interface CheckerOptions {
  /** Lists all unknown line items, for a sink whose rows cannot be asked for them. @default false */
  readonly listAllItems?: boolean | undefined
}

/** The checkers of a run: they share the names that it has seen. */
export interface Checkers {
  /** One for a source: it checks a block at a time. */
  readonly of: (content: Content, options?: CheckerOptions) => BlockChecker
}

/**
 * Bytes that are checked in one go. DuckDB asks for rows on this thread, and a statement waits for as long as a slice
 * takes: with 64 KiB a fifth of a millisecond, as long as DuckDB itself takes for the rows that it is given.
 */
const SLICE_BYTES = 64 * 1024

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Checkers that work on this thread, and let others have it in between. */
export const openCheckers = (options: CheckOptions = {}): Checkers => {
  const seen = newSeenSets()
  const spare: BlockRows[] = []
  return {
    of: (content, { listAllItems = false } = {}) => {
      const checker = new RecordChecker(content, seen, options)
      checker.listAllItems(listAllItems)
      return {
        check: async (block) => {
          const rows = spare.pop() ?? new BlockRows(seen)
          const check = new BlockCheck(block, checker, rows)
          while (check.next(SLICE_BYTES)) await nextTurn()
          return { ...check.end(), release: () => spare.push(rows) }
        },
      }
    },
  }
}
