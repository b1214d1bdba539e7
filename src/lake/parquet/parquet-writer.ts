/**
 * Writes a Parquet file of flat columns, group by group: pages compressed beside the caller's work, in their order in
 * the file, a footer that says where they stand. Knows no values. Source: parquet-format, README.md and parquet.thrift.
 */

import type { FileHandle } from 'node:fs/promises'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import { VERSION } from '../../support/tool-version.ts'
import type { CompressPage, PageCompressors } from './compress-pages.ts'
import { type Fields, i16, i32, i64, structBytes } from './thrift-writer.ts'
import type { ColumnFacts, ColumnPages } from './written-columns.ts'

/** Parquet's number of the physical type, and of what it stands for where that is another one. */
const TYPES = {
  BIGINT: { physical: 2, converted: 18 },
  SMALLINT: { physical: 1, converted: 16 },
  DOUBLE: { physical: 5, converted: undefined },
  VARCHAR: { physical: 6, converted: 0 },
} as const

export interface FileColumn {
  readonly name: string
  readonly type: keyof typeof TYPES
  /** By which Iceberg finds it. */
  readonly fieldId?: number | undefined
}

const OPTIONAL = 1
const CODECS = { none: 0, zstd: 6 } as const
const PLAIN = 0
const RLE = 3
const RLE_DICTIONARY = 8
const DATA_PAGE = 0
const DICTIONARY_PAGE = 2
const MARK = Buffer.from('PAR1')

/** Columns with fewer bytes are not worth a compression of their own. */
const WORTH_BYTES = 4096

/** A column of a group as it goes into the file. */
interface Chunk {
  readonly facts: ColumnFacts
  readonly codec: number
  /** Heads and bodies of its pages. */
  readonly parts: readonly Buffer[]
  /** What of them is the dictionary's. */
  readonly dictionaryBytes: number
  readonly bytes: number
  readonly unpackedBytes: number
}

/** What the footer says of a chunk. */
type PlacedChunk = Omit<Chunk, 'parts'> & { readonly at: number }

interface PlacedGroup {
  readonly rows: number
  readonly chunks: readonly PlacedChunk[]
}

/** Writes groups in the order in which they are given. After a failure every later call fails too. */
export class ParquetWriter {
  readonly #file: FileHandle
  readonly #columns: readonly FileColumn[]
  readonly #compressors: PageCompressors
  readonly #groups: PlacedGroup[] = []
  #last: Promise<void>
  #at = 0

  private constructor(file: FileHandle, columns: readonly FileColumn[], compressors: PageCompressors) {
    this.#file = file
    this.#columns = columns
    this.#compressors = compressors
    this.#last = this.#append([MARK])
  }

  /** Begins a file, in place of one that is there. Errors are the system's own, here and later. */
  static async open(
    path: string,
    columns: readonly FileColumn[],
    compressors: PageCompressors,
  ): Promise<ParquetWriter> {
    return new ParquetWriter(await openFile(path, FILE_FLAGS.emptied), columns, compressors)
  }

  /** @param pages of each column; they have to stand until the promise is fulfilled */
  async write(rows: number, pages: readonly ColumnPages[]): Promise<void> {
    const before = this.#last
    this.#last = this.#compressors.lend(async (compress) => {
      const chunks = chunksOf(rows, pages, compress)
      // Where an earlier group fails nobody waits for these.
      chunks.catch(() => undefined)
      await before
      await this.#place(rows, await chunks)
    })
    return this.#last
  }

  async #place(rows: number, chunks: readonly Chunk[]): Promise<void> {
    let at = this.#at
    const placed = chunks.map(({ parts: _, ...chunk }) => {
      const from = at
      at += chunk.bytes
      return { ...chunk, at: from }
    })
    await this.#append(chunks.flatMap(({ parts }) => parts))
    this.#groups.push({ rows, chunks: placed })
  }

  async #append(parts: readonly Buffer[]): Promise<void> {
    let rest = parts
    while (rest.length > 0) {
      const { bytesWritten } = await this.#file.writev(rest)
      this.#at += bytesWritten
      rest = behind(rest, bytesWritten)
    }
  }

  /** Writes the footer. @returns the rows of the file */
  async finish(): Promise<number> {
    await this.#last
    const filters = await this.#writeFilters()
    const rows = this.#groups.reduce((sum, group) => sum + group.rows, 0)
    const footer = structBytes({
      1: i32(1),
      2: [{ 4: 'schema', 5: i32(this.#columns.length) }, ...this.#columns.map(schemaOf)],
      3: i64(rows),
      4: this.#groups.map((group, at) => groupOf(group, at, this.#columns, filters)),
      6: `firmlake version ${VERSION}`,
      7: this.#columns.map(() => ({ 1: {} })),
    })
    const length = Buffer.alloc(4)
    length.writeUInt32LE(footer.length)
    await this.#append([footer, length, MARK])
    return rows
  }

  /** @returns their places and sizes */
  async #writeFilters(): Promise<Filters> {
    const filters = new Map<PlacedChunk, readonly [at: number, bytes: number]>()
    const parts: Buffer[] = []
    let at = this.#at
    for (const chunk of this.#groups.flatMap(({ chunks }) => chunks)) {
      const { filter } = chunk.facts
      if (filter === undefined) continue
      // One algorithm, one hash and no compression are all that there are.
      const head = structBytes({ 1: i32(filter.length), 2: { 1: {} }, 3: { 1: {} }, 4: { 1: {} } })
      parts.push(head, filter)
      filters.set(chunk, [at, head.length + filter.length])
      at += head.length + filter.length
    }
    await this.#append(parts)
    return filters
  }

  /** Closes the file, whole or not. */
  async close(): Promise<void> {
    await this.#last.catch(() => undefined)
    await this.#file.close()
  }
}

/** What stands behind so many bytes. */
const behind = (parts: readonly Buffer[], bytes: number): readonly Buffer[] => {
  let [at, left] = [0, bytes]
  while (at < parts.length && left >= parts[at]!.length) left -= parts[at++]!.length
  const [first, ...others] = parts.slice(at)
  return first === undefined ? [] : [first.subarray(left), ...others]
}

type Filters = ReadonlyMap<PlacedChunk, readonly [at: number, bytes: number]>

const chunksOf = async (
  rows: number,
  pages: readonly ColumnPages[],
  compress: CompressPage,
): Promise<readonly Chunk[]> => {
  const chunks: Chunk[] = []
  for (const column of pages) chunks.push(await chunkOf(rows, column, compress))
  return chunks
}

const chunkOf = async (
  rows: number,
  { facts, dictionary, page }: ColumnPages,
  compress: CompressPage,
): Promise<Chunk> => {
  const unpackedBytes = page.length + (dictionary?.length ?? 0)
  const isWorth = unpackedBytes >= WORTH_BYTES
  const packed = async (kind: number, bytes: Buffer, about: Fields): Promise<Page> => {
    const body = !isWorth ? bytes : bytes.length < WORTH_BYTES ? rawFrame(bytes) : await compress(bytes)
    return {
      head: structBytes({ 1: i32(kind), 2: i32(bytes.length), 3: i32(body.length), ...about }),
      body,
    }
  }
  const first =
    dictionary &&
    (await packed(DICTIONARY_PAGE, dictionary, { 7: { 1: i32(facts.distinct ?? 0), 2: i32(PLAIN) } }))
  const encoding = dictionary === undefined ? PLAIN : RLE_DICTIONARY
  const data = await packed(DATA_PAGE, page, {
    5: { 1: i32(rows), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE) },
  })
  const dictionaryParts = first === undefined ? [] : [first.head, first.body]
  const parts = [...dictionaryParts, data.head, data.body]
  return {
    facts,
    codec: isWorth ? CODECS.zstd : CODECS.none,
    parts,
    dictionaryBytes: sizeOf(dictionaryParts),
    bytes: sizeOf(parts),
    unpackedBytes: data.head.length + (first?.head.length ?? 0) + unpackedBytes,
  }
}

/** A frame of Zstandard whose one block stands as it is (RFC 8878): a short dictionary is not worth a thread's time. */
const rawFrame = (bytes: Buffer): Buffer => {
  const frame = Buffer.allocUnsafe(RAW_HEAD_BYTES + bytes.length)
  frame.writeUInt32LE(0xfd2fb528)
  // One segment, whose size stands in four bytes.
  frame.writeUInt8(0xa0, 4)
  frame.writeUInt32LE(bytes.length, 5)
  // The last block, raw.
  frame.writeUIntLE(bytes.length * 8 + 1, 9, 3)
  bytes.copy(frame, RAW_HEAD_BYTES)
  return frame
}
const RAW_HEAD_BYTES = 12

interface Page {
  readonly head: Buffer
  readonly body: Buffer
}

const sizeOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0)

const schemaOf = ({ name, type, fieldId }: FileColumn): Fields => {
  const { physical, converted } = TYPES[type]
  return {
    1: i32(physical),
    3: i32(OPTIONAL),
    4: name,
    6: converted === undefined ? undefined : i32(converted),
    9: fieldId === undefined ? undefined : i32(fieldId),
  }
}

const groupOf = (
  { rows, chunks }: PlacedGroup,
  ordinal: number,
  columns: readonly FileColumn[],
  filters: Filters,
): Fields => ({
  1: chunks.map((chunk, at) => ({
    2: i64(chunk.at),
    3: metadataOf(chunk, rows, columns[at]!, filters.get(chunk)),
  })),
  2: i64(chunks.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0)),
  3: i64(rows),
  5: i64(chunks[0]?.at ?? 0),
  6: i64(chunks.reduce((sum, { bytes }) => sum + bytes, 0)),
  7: i16(ordinal),
})

const metadataOf = (
  { facts, codec, at, dictionaryBytes, bytes, unpackedBytes }: PlacedChunk,
  rows: number,
  { name, type }: FileColumn,
  filter: readonly [at: number, bytes: number] | undefined,
): Fields => {
  const { distinct, nulls, least, greatest } = facts
  return {
    1: i32(TYPES[type].physical),
    2: (distinct === undefined ? [PLAIN, RLE] : [PLAIN, RLE, RLE_DICTIONARY]).map(i32),
    3: [name],
    4: i32(codec),
    5: i64(rows),
    6: i64(unpackedBytes),
    7: i64(bytes),
    9: i64(at + dictionaryBytes),
    11: distinct === undefined ? undefined : i64(at),
    12: {
      3: i64(nulls),
      4: distinct === undefined ? undefined : i64(distinct),
      5: greatest,
      6: least,
      7: greatest && true,
      8: least && true,
    },
    14: filter && i64(filter[0]),
    15: filter && i32(filter[1]),
  }
}
