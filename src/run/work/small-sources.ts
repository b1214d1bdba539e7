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
import type { LoadParts } from './load-source.ts'

const MIB = 1024 * 1024
/** A source of more bytes, stored or decoded, is not small. */
const SMALL_BYTES = MIB
/** Bytes of a block that small sources share: what a source adds to it costs little by then. */
const SHARED_BYTES = 4 * MIB
const MOST_SOURCES = 1000
/** Fewer have a partition each, which people find again more easily. */
export const LEAST_SHARED = 8

/** A small source with all of its lines. */
export interface SmallSource {
  readonly index: number
  readonly source: Source
  readonly fingerprint: Fingerprint
  readonly content: Content
  readonly block: Block
}

/** Whether a source may be small. */
export const maySmall = (source: Source): boolean =>
  kindOf(source).mayShare === true &&
  (source.sizeBytes ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES &&
  source.blocks === undefined &&
  source.range === undefined

/** Its only block, and its content. `undefined` where it is not small, or not as it should be: that is met again then. */
export const readSmall = async (
  source: Source,
  decode: LoadParts['decode'],
): Promise<Pick<SmallSource, 'content' | 'block'> | undefined> => {
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
  const content = only && contentToRead(source, only)
  return only && content && { block: only, content }
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
const together = (members: readonly SmallSource[]): Source => {
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
  return {
    ...{ kind: 'file', name, key: `shared ${sha256}`, sizeBytes: bytes, shared },
    ...(members[0] && { content: members[0].content }),
    fingerprint: async () => ({ bytes, sha256 }),
    blocks: async function* () {
      yield block
    },
    open: async function* () {
      // The block already contains its lines.
    },
  }
}

/** A source to be loaded: one, or several small ones. */
export interface SourceToLoad {
  readonly index: number
  readonly source: Source
  readonly fingerprint: Fingerprint
  readonly members: readonly SmallSource[]
}

/** Small sources that wait for more of their kind. */
export class SmallSources {
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

  /** Those that wait, to be loaded now; nobody waits afterwards. */
  take(): readonly SourceToLoad[] {
    const members = this.#members
    this.#members = []
    this.#bytes = 0
    const [first] = members
    if (first !== undefined && members.length >= LEAST_SHARED) {
      const source = together(members)
      const { bytes, sha256 } = togetherAs(
        members.map((one) => ({ kind: one.source.kind, name: one.source.name, ...one.fingerprint })),
      )
      return [{ index: first.index, source, fingerprint: { bytes, sha256 }, members }]
    }
    return members.map((one) => {
      const block = { ...one.block, bytes: Buffer.from(one.block.bytes) }
      return {
        ...{ index: one.index, fingerprint: one.fingerprint, members: [one] },
        source: { ...one.source, content: one.content, blocks: () => oneBlock(block) },
      }
    })
  }
}

async function* oneBlock(block: Block): AsyncGenerator<Block> {
  yield block
}
