/**
 * Checks the blocks of a source. The first one is checked while it is decoded, where there is nothing else to do: later ones
 * are decoded while those before them are checked and loaded.
 */

import type { BegunCheck, BlockChecker, Checkers, HeldBlock } from '../../check/block-checker.ts'
import { detectContent } from '../../check/detect-content.ts'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Block } from '../../core/lines.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Source } from '../../core/source.ts'
import type { TaskPool } from './task-pool.ts'

/**
 * An empty source has no content, and it does not matter; a file that was only found in the folder named is
 * left out. @throws {ToolkitError} CONTENT_UNKNOWN for a source that was named itself
 */
const contentOfNothing = (source: Source, block: Block): Content | undefined => {
  if (block.bytes.length === 0 && block.overlong.length === 0) return 'companies'
  if (source.found) return undefined
  throw new ToolkitError(
    'CONTENT_UNKNOWN',
    `Cannot tell whether "${source.name}" holds companies or relations: its first lines are neither, give --content`,
    { source: source.name },
  )
}

/** Lines have to show what they are: where they do not, the name does when their block is whole. */
const NO_NAME = ''

/** What a source is checked with. */
interface CheckTools {
  readonly parts: {
    readonly checkers: Checkers
    /** Where lines are taken out of blocks before they are checked, blocks have to be whole. */
    readonly refuse?: unknown
  }
  readonly sink: Pick<SinkRun, 'stagedRows'>
  readonly pool: Pick<TaskPool, 'isIdle'>
}

/** A checker of what a source holds. */
export interface ContentChecker extends Pick<BlockChecker, 'atOnce'> {
  readonly content: Content
  readonly check: (block: Block) => Promise<HeldBlock>
}

export class SourceCheck {
  readonly #source: Source
  readonly #run: CheckTools
  #checker: { readonly content: Content; readonly checker: BlockChecker } | undefined
  #begun: BegunCheck | undefined
  #isWaiting = false

  constructor(source: Source, run: CheckTools) {
    this.#source = source
    this.#run = run
  }

  /** Says that nothing is done until the first block is whole: it may be checked meanwhile. */
  waitForFirst(): void {
    const { range } = this.#source
    this.#isWaiting = (range?.from ?? 0) === 0 && this.#run.parts.refuse === undefined
  }

  /** Says that the first block is whole: from here on, lines are those of later ones. */
  stopWaiting(): void {
    this.#isWaiting = false
  }

  /** Checks the lines that a block has so far, where it is the one that is waited for. */
  lines(begun: Block): void {
    if (!this.#isWaiting || !this.#run.pool.isIdle || begun.bytes.length === 0) return
    const content = this.#source.content ?? detectContent(begun, NO_NAME)
    if (content === undefined) return
    this.#begun ??= this.#checkerOf(content).begin?.(begun)
    this.#begun?.lines(begun)
  }

  /**
   * What the source holds, shown by a block, and what checks it: blocks in their order. `undefined` for a file that was only
   * found in a folder and holds no records. @throws {ToolkitError} CONTENT_UNKNOWN
   */
  checkerFor(block: Block): ContentChecker | undefined {
    const content =
      this.#checker?.content ??
      this.#source.content ??
      detectContent(block, this.#source.name) ??
      contentOfNothing(this.#source, block)
    if (content === undefined) return undefined
    const checker = this.#checkerOf(content)
    return {
      content,
      atOnce: checker.atOnce,
      check: (next) => {
        const begun = this.#begun
        this.#begun = undefined
        return begun ? begun.end(next) : checker.check(next)
      },
    }
  }

  #checkerOf(content: Content): BlockChecker {
    const { parts, sink } = this.#run
    this.#checker ??= {
      content,
      checker: parts.checkers.of(content, { listAllItems: sink.stagedRows === undefined }),
    }
    return this.#checker.checker
  }
}
