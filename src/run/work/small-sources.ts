/**
 * Consecutive small sources that are loaded together: one block is filled from them, and each of its lines knows its place
 * in its own source. A thousand files of one company would cost a thousand times what a partition does.
 */

import { trimLine } from '../../check/check-block.ts'
import { contentToRead } from '../../check/detect-content.ts'
import type { Content } from '../../contract/objects.ts'
import type { Block, LinePlace } from '../../core/lines.ts'
import type { Fingerprint, SharedPart, Source } from '../../core/source.ts'
import { kindOf } from '../../core/source-kinds.ts'
import { togetherAs } from '../../manifest/form/sources.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import type { IdentifiedSource } from './identify-sources.ts'
import type { KnownSources } from './known-sources.ts'
import type { RunEvent } from './progress.ts'
import type { BlockParts } from './source-blocks.ts'
import type { TaskPool } from './task-pool.ts'

const MIB = 1024 * 1024
/** A source of more bytes, stored or decoded, is not small. */
const SMALL_BYTES = MIB
/** Bytes of a block that small sources share: what a source adds to it costs little by then. */
const SHARED_BYTES = 4 * MIB
const MOST_SOURCES = 1000
/** Fewer have a partition each, which people find again more easily. */
export const MIN_SHARED = 8

/** A source that is loaded: one as it is, or several small ones as one. */
export interface SourceToLoad extends IdentifiedSource {
  /** The small sources. @default itself */
  readonly members?: readonly IdentifiedSource[]
}

/** A small source with all of its lines. */
interface SmallSource extends IdentifiedSource {
  readonly fingerprint: Fingerprint
  readonly content: Content
  readonly block: Block
}

interface SmallTools {
  readonly parts: Pick<BlockParts, 'decode'>
  readonly known: KnownSources
  readonly pool: Pick<TaskPool, 'throwIfStopped'>
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/**
 * Small sources together. They wait until no more of their kind follows: what is loaded later is the later version.
 */
export async function* smallTogether(
  sources: AsyncIterable<IdentifiedSource>,
  run: SmallTools,
): AsyncGenerator<SourceToLoad, void> {
  const waiting = new SmallSources()
  for await (const found of sources) {
    const small = await readSmall(found, run)
    if (small === undefined || !waiting.fits(small)) yield* waiting.take()
    if (small) waiting.add(small)
    else yield found
  }
  yield* waiting.take()
}

/** Whether a source may be small. */
const maySmall = (source: Source): boolean =>
  kindOf(source).mayShare === true &&
  (source.sizeBytes ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES &&
  source.blocks === undefined &&
  source.range === undefined

/** A small source with all of its lines; `undefined` for others. */
const readSmall = async (
  found: IdentifiedSource,
  { parts, known, pool, onEvent }: SmallTools,
): Promise<SmallSource | undefined> => {
  const { source, fingerprint, whole } = found
  if (fingerprint === undefined || whole || !maySmall(source)) return undefined
  pool.throwIfStopped()
  const block = await onlyBlock(source, parts.decode)
  const content = block && contentToRead(source, block)
  if (block === undefined || content === undefined) return undefined
  known.add(source, fingerprint, content)
  onEvent?.({ kind: 'source', source: source.name, content })
  return { ...found, fingerprint, content, block }
}

/** Reads a small source as one block. `undefined` if it has several or is invalid: loading it reports the error. */
const onlyBlock = async (source: Source, decode: BlockParts['decode']): Promise<Block | undefined> => {
  let only: Block | undefined
  try {
    for await (const block of decode(source)) {
      const bytes =
        only === undefined && block.bytes.length <= SMALL_BYTES ? Buffer.from(block.bytes) : undefined
      block.release?.()
      if (bytes === undefined || block.overlong.length > 0) return undefined
      only = { bytes, firstLine: block.firstLine, offset: block.offset, overlong: [] }
    }
  } catch {
    return undefined
  }
  return only
}

/** Lines that are not blank, with their places. */
const addLines = ({ block, source }: SmallSource, pieces: Buffer[], places: LinePlace[]): number => {
  const { bytes, firstLine, offset } = block
  let size = 0
  for (let from = 0, line = firstLine; from < bytes.length; line++) {
    const newline = bytes.indexOf(JSON_BYTES.LINE_FEED, from)
    const next = newline < 0 ? bytes.length : newline + 1
    const [start, end] = trimLine(bytes, from, next)
    if (start < end) {
      pieces.push(bytes.subarray(start, end), NEWLINE)
      places.push({ line, offset: offset + start, source: source.name })
      size += end - start + 1
    }
    from = next
  }
  return size
}
const NEWLINE = Buffer.from('\n')

/** Small sources as one. */
const together = (first: SmallSource, members: readonly SmallSource[]): SourceToLoad => {
  const pieces: Buffer[] = []
  const places: LinePlace[] = []
  const shared: SharedPart[] = []
  let from = 0
  for (const one of members) {
    const { source, fingerprint } = one
    shared.push({ kind: source.kind, name: source.name, fingerprint, asOf: source.asOf, from })
    from += addLines(one, pieces, places)
  }
  const { name, bytes, sha256 } = togetherAs(shared.map((one) => ({ ...one, ...one.fingerprint })))
  const block: Block = { bytes: Buffer.concat(pieces), firstLine: 1, offset: 0, overlong: [], places }
  const source: Source = {
    ...{ kind: 'file', name, key: `shared ${sha256}`, sizeBytes: bytes, shared, content: first.content },
    blocks: () => oneBlock(block),
    open: async function* () {
      // The block already contains its lines.
    },
  }
  return { index: first.index, source, fingerprint: { bytes, sha256 }, members }
}

/** A small source that is loaded by itself, of the lines that were read already. */
const alone = ({ index, source, fingerprint, content, block: read }: SmallSource): SourceToLoad => {
  const block = { ...read, bytes: Buffer.from(read.bytes) }
  return { index, fingerprint, source: { ...source, content, blocks: () => oneBlock(block) } }
}

async function* oneBlock(block: Block): AsyncGenerator<Block> {
  yield block
}

/** Small sources that wait for more of their kind. */
class SmallSources {
  /** Waiting sources share one memory: memory of its own for each would be garbage that V8 collects late. */
  readonly #memory = Buffer.allocUnsafeSlow(SHARED_BYTES)
  #members: SmallSource[] = []
  #bytes = 0

  /** Whether one more fits to those that wait. */
  fits({ content, block }: SmallSource): boolean {
    const [first] = this.#members
    if (first === undefined) return true
    const isFull = this.#members.length >= MOST_SOURCES || this.#bytes + block.bytes.length > SHARED_BYTES
    return first.content === content && !isFull
  }

  add(small: SmallSource): void {
    const end = this.#bytes + small.block.bytes.copy(this.#memory, this.#bytes)
    this.#members.push({
      ...small,
      block: { ...small.block, bytes: this.#memory.subarray(this.#bytes, end) },
    })
    this.#bytes = end
  }

  /** Sources that wait, to be loaded now; nobody waits afterwards. */
  take(): readonly SourceToLoad[] {
    const members = this.#members
    this.#members = []
    this.#bytes = 0
    const [first] = members
    return first && members.length >= MIN_SHARED ? [together(first, members)] : members.map(alone)
  }
}
