/** The blocks of a source: decoded one ahead, cut to its range, and checked. */

import type { BlockChecker, Checkers, HeldBlock } from '../../check/block-checker.ts'
import { contentToRead } from '../../check/detect-content.ts'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Block } from '../../core/lines.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Source } from '../../core/source.ts'
import { inStage } from '../../core/stages.ts'
import { settled } from '../../support/side-by-side.ts'
import type { RunEvent, WorkProgress } from './progress.ts'

/** Stored bytes of a source as blocks. @param onRead called with the number of bytes of each chunk that is read */
export type Decode = (source: Source, onRead?: (bytes: number) => void) => AsyncIterable<Block>

/** The stages that blocks pass before they are loaded. */
export interface BlockParts {
  readonly decode: Decode
  readonly checkers: Checkers
  /** Takes forgotten companies and entities out of a block, before it is checked. @default nothing is taken out */
  readonly refuse?: ((block: Block, content: Content) => Block) | undefined
}

/** The run that blocks are read for. */
interface BlocksRun {
  readonly run: string
  readonly parts: BlockParts
  readonly sink: Pick<SinkRun, 'stagedRows'>
  readonly progress: Pick<WorkProgress, 'read'>
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

export interface SourceBlock {
  /** Place of the block in its source. */
  readonly number: number
  readonly block: Block
  /** Whether no block of the source follows. @throws what decoding the next one threw */
  readonly isLast: () => Promise<boolean>
}

const WHOLE = { from: 0, to: Number.POSITIVE_INFINITY, of: Number.POSITIVE_INFINITY }
const NO_LINES: Block = { bytes: Buffer.alloc(0), firstLine: 1, offset: 0, overlong: [] }

/** The blocks of a source, each decoded while the one before is checked and loaded; of an empty source one without lines. */
export async function* sourceBlocks(
  source: Source,
  { run, parts, progress }: BlocksRun,
): AsyncGenerator<SourceBlock, void> {
  const { range = WHOLE } = source
  const iterator = parts.decode(source, (bytes) => progress.read(bytes))[Symbol.asyncIterator]()
  const decodeNext = (): Promise<() => IteratorResult<Block>> =>
    settled(
      inStage(
        { stage: 'decode', run, source: source.name },
        () => iterator.next(),
        ({ done, value }) => (done ? {} : { bytes: value.bytes.length }),
      ),
    )
  try {
    let next = decodeNext()
    for (let number = 0; number < range.to; number++) {
      const step = (await next)()
      if (step.done && number > 0) return
      if (!step.done && number + 1 < range.to) next = decodeNext()
      const upcoming = next
      const isLast = async (): Promise<boolean> => {
        if (number + 1 >= range.to) return range.to === range.of
        return step.done === true || (await upcoming)().done === true
      }
      const block = step.done ? NO_LINES : step.value
      if (number >= range.from) yield { number, block, isLast }
      else block.release?.()
      if (step.done) return
    }
  } finally {
    await iterator.return?.()
  }
}

/** A block of a source with what its check found. */
export interface CheckedSourceBlock extends SourceBlock {
  readonly content: Content
  readonly checked: HeldBlock
}

/**
 * Checks the blocks of a source in their order, as many side by side as the checker can. The first one shows the content of all.
 *
 * @throws {ToolkitError} CONTENT_UNKNOWN
 */
export async function* checkedBlocks(
  source: Source,
  blocks: AsyncIterable<SourceBlock>,
  { parts: { checkers, refuse }, sink, onEvent }: BlocksRun,
): AsyncGenerator<CheckedSourceBlock, void> {
  const checking: Promise<() => CheckedSourceBlock>[] = []
  let known: { readonly content: Content; readonly checker: BlockChecker } | undefined
  for await (const { block: read, ...place } of blocks) {
    if (known === undefined) {
      const content = contentToRead(source, read) ?? contentOfNothing(source.name, read)
      if (!source.shared) onEvent?.({ kind: 'source', source: source.name, content })
      known = { content, checker: checkers.of(content, { listAllItems: sink.stagedRows === undefined }) }
    }
    const { content, checker } = known
    const block = refuse?.(read, content) ?? read
    checking.push(settled(checker.check(block).then((checked) => ({ ...place, block, content, checked }))))
    const oldest = checking.length >= checker.atOnce ? checking.shift() : undefined
    if (oldest) yield (await oldest)()
  }
  for (const one of checking) yield (await one)()
}

/** An empty source has no content, and it does not matter. @throws {ToolkitError} CONTENT_UNKNOWN */
const contentOfNothing = (source: string, block: Block): Content => {
  if (block.bytes.length === 0 && block.overlong.length === 0) return 'companies'
  throw new ToolkitError(
    'CONTENT_UNKNOWN',
    `Cannot tell whether "${source}" holds companies or relations: its first lines are neither, give --content`,
    { source },
  )
}
