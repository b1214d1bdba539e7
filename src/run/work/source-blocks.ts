/** The blocks of a source: decoded one ahead, cut to its range, and checked. */

import { createHash } from 'node:crypto'
import type { BegunCheck, BlockChecker, Checkers, HeldBlock } from '../../check/block-checker.ts'
import { contentToRead } from '../../check/detect-content.ts'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Block } from '../../core/lines.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { inStage } from '../../core/stages.ts'
import { settled } from '../../support/side-by-side.ts'
import type { TaskPool } from './task-pool.ts'

/** Called while a source is decoded. */
export interface DecodeListener {
  /** Called with the number of stored bytes read. */
  readonly onRead?: ((bytes: number) => void) | undefined
  /** Called with the lines that the next block has so far: it begins with them. */
  readonly onLines?: ((begun: Block) => void) | undefined
}

/** Stored bytes of a source as blocks. */
export type Decode = (source: Source, listener: DecodeListener) => AsyncIterable<Block>

export interface HashedSource {
  readonly source: Source
  /** Length and hash of what was read; of the whole source once it has been read to its end. */
  readonly fingerprint: () => Fingerprint
}

/** A source that can be read only once, hashed while it is read. */
export const hashWhileReading = (source: Source): HashedSource => {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    source: {
      ...source,
      open: async function* (signal) {
        for await (const chunk of source.open(signal)) {
          hash.update(chunk)
          bytes += chunk.length
          yield chunk
        }
      },
    },
    fingerprint: () => ({ bytes, sha256: hash.copy().digest('hex') }),
  }
}

export interface SourceBlock {
  /** Place of the block in its source. */
  readonly number: number
  readonly block: Block
  /** Whether no block of the source follows. @throws what decoding the next one threw */
  readonly isLast: () => Promise<boolean>
}

export interface SourceBlocksOptions {
  readonly run: string
  readonly onRead: (bytes: number) => void
  /** Called with the lines that the first block has so far. */
  readonly onFirstLines: (begun: Block) => void
}

const WHOLE = { from: 0, to: Number.POSITIVE_INFINITY, of: Number.POSITIVE_INFINITY }
const NO_LINES: Block = { bytes: Buffer.alloc(0), firstLine: 1, offset: 0, overlong: [] }

/** The blocks of a source, each decoded while the one before is checked and loaded; of an empty source one without lines. */
export async function* sourceBlocks(
  source: Source,
  decode: Decode,
  { run, onRead, onFirstLines }: SourceBlocksOptions,
): AsyncGenerator<SourceBlock, void> {
  const { range = WHOLE } = source
  let isFirst = true
  const onLines = (begun: Block): void => {
    if (isFirst) onFirstLines(begun)
  }
  const iterator = decode(source, { onRead, onLines })[Symbol.asyncIterator]()
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
      isFirst = false
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

/** Checks blocks in their order, as many side by side as the checker can. */
export async function* checkedBlocks(
  blocks: AsyncIterable<SourceBlock>,
  check: SourceCheck,
): AsyncGenerator<CheckedSourceBlock, void> {
  const begun: Promise<() => CheckedSourceBlock>[] = []
  for await (const block of blocks) {
    begun.push(settled(check.check(block)))
    const oldest = begun.length >= check.atOnce ? begun.shift() : undefined
    if (oldest) yield (await oldest)()
  }
  for (const one of begun) yield (await one)()
}

/** The tools that a source is checked with. */
interface CheckTools {
  readonly parts: {
    readonly checkers: Checkers
    /** Takes forgotten companies and entities out of a block, before it is checked. @default nothing is taken out */
    readonly refuse?: ((block: Block, content: Content) => Block) | undefined
  }
  readonly sink: Pick<SinkRun, 'stagedRows'>
  readonly pool: Pick<TaskPool, 'isIdle'>
  readonly onContent: (source: string, content: Content) => void
}

/** Lines have to show what they are: where they do not, the name does when their block is whole. */
const NO_NAME = ''

/**
 * Checks the blocks of a source. The first one is checked while it is decoded, where there is nothing else to do: later ones
 * are decoded while those before them are checked and loaded.
 */
export class SourceCheck {
  readonly #source: Source
  readonly #tools: CheckTools
  #content: Content | undefined
  #checker: BlockChecker | undefined
  #begun: BegunCheck | undefined

  constructor(source: Source, tools: CheckTools) {
    this.#source = source
    this.#tools = tools
  }

  /** The content of the source; `undefined` before its first block. */
  get content(): Content | undefined {
    return this.#content
  }

  /** Blocks that are checked side by side. */
  get atOnce(): number {
    return this.#checker?.atOnce ?? 1
  }

  /** Checks the lines that the first block has so far, where nothing else is done. */
  begin(lines: Block): void {
    const { parts, pool } = this.#tools
    const isPart = (this.#source.range?.from ?? 0) > 0 || parts.refuse !== undefined
    if (isPart || !pool.isIdle || lines.bytes.length === 0) return
    const content = contentToRead(this.#source, lines, NO_NAME)
    if (content === undefined) return
    this.#begun ??= this.#checkerOf(content).begin?.(lines)
    this.#begun?.lines(lines)
  }

  /** Checks a block. Blocks come in their order. @throws {ToolkitError} CONTENT_UNKNOWN, at once */
  check({ block: read, ...place }: SourceBlock): Promise<CheckedSourceBlock> {
    const content = this.#contentOf(read)
    const checker = this.#checkerOf(content)
    const block = this.#tools.parts.refuse?.(read, content) ?? read
    const begun = this.#begun
    this.#begun = undefined
    const held = begun ? begun.end(block) : checker.check(block)
    return held.then((checked) => ({ ...place, block, content, checked }))
  }

  #contentOf(block: Block): Content {
    if (this.#content !== undefined) return this.#content
    const { name, shared } = this.#source
    this.#content = contentToRead(this.#source, block) ?? contentOfNothing(name, block)
    if (!shared) this.#tools.onContent(name, this.#content)
    return this.#content
  }

  #checkerOf(content: Content): BlockChecker {
    const { parts, sink } = this.#tools
    this.#checker ??= parts.checkers.of(content, { listAllItems: sink.stagedRows === undefined })
    return this.#checker
  }
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
