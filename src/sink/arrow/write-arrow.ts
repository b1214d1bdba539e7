/** Writes a relation as Arrow IPC: chunks of the engine gathered to record batches, batch by batch to a writable. */

import type { Writable } from 'node:stream'
import {
  AsyncByteQueue,
  Message,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  type Schema,
  Struct,
} from 'apache-arrow'
import { ToolkitError } from '../../core/errors.ts'
import type { RawChunk, TableRows } from '../../core/sink.ts'
import { settled } from '../../support/side-by-side.ts'
import { type ArrowColumn, arrowColumn, arrowSchema } from './arrow-types.ts'
import { type Collected, collectValues, withNumbers } from './collect-values.ts'
import { type ColumnBuilder, columnBuilder } from './column-builders.ts'
import type { Memory } from './validity.ts'

/** `file` has a footer and is read at any place; `stream` is read from its beginning and may go through a pipe. */
export type ArrowKind = 'file' | 'stream'

/** Gives each batch as bytes; nothing is held back. */
interface IpcWriter {
  /** The beginning. */
  start(): readonly Uint8Array[]
  batch(batch: RecordBatch): readonly Uint8Array[]
  end(): readonly Uint8Array[]
}

/** Bytes of a writer, until they are taken. */
class Parts extends AsyncByteQueue {
  #parts: Uint8Array[] = []
  override write(part: Uint8Array): void {
    if (part.byteLength > 0) this.#parts.push(part)
  }
  take(): readonly Uint8Array[] {
    const parts = this.#parts
    this.#parts = []
    return parts
  }
}

/** The package leaves the schema out of the front of a file, where the format has it for readers without seeking. */
class WholeFileWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema)
    return this._writeMessage(Message.from(schema))
  }
}

const ipcWriter = (kind: ArrowKind, schema: Schema): IpcWriter => {
  const parts = new Parts()
  const writer = kind === 'file' ? new WholeFileWriter() : new RecordBatchStreamWriter()
  return {
    start: () => {
      writer.reset(parts, schema)
      return parts.take()
    },
    batch: (batch) => {
      writer.write(batch)
      return parts.take()
    },
    end: () => {
      writer.finish()
      return parts.take()
    },
  }
}

export interface WriteArrowOptions {
  readonly kind: ArrowKind
  /** Table of the lake whose rows these are: the schema then says what its columns mean. */
  readonly table?: string | undefined
  /** Whether the target has done with bytes when it says that they are written, as files have. @default 'fresh' */
  readonly memory?: Memory | undefined
  /** Given all bytes in their order, before they are written. */
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined
  /** Called with the rows written after each batch. */
  readonly onRows?: ((rows: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Rows of a batch: as many as DuckDB's row groups have. */
const BATCH_ROWS = 122_880
/** A batch ends earlier where its texts and lists are long. */
const BATCH_BYTES = 64 << 20
/** Rows taken at once where there are texts: the longest are 16 MiB, and a batch's texts must stay below 2 GiB. */
const TEXT_ROWS = 64

/**
 * Writes all rows; the target is left open. Holds one batch, and one more that is being written.
 *
 * @returns the number of rows
 * @throws {ToolkitError} `TARGET_REFUSED` for a column whose type is not written; the engine's and the target's own
 * errors pass through
 */
export const writeArrow = async (
  relation: TableRows,
  target: Writable,
  { kind, table, memory = 'fresh', onBytes, onRows, signal }: WriteArrowOptions,
): Promise<number> => {
  const collected = await collectValues(relation)
  signal?.throwIfAborted()
  const { columns: named, chunks } = await withNumbers(relation, collected).chunks()
  let dictionaries = 0
  const newId = (): number => dictionaries++
  const columns = named.map((column) => arrowColumn(column, collected.get(column.name)?.values, newId))
  const names = named.map(({ name }) => name)
  const schema = arrowSchema(names, columns, table)
  const writer = ipcWriter(kind, schema)
  const nulls = names.map(() => 0)

  const send = (parts: readonly Uint8Array[]): Promise<() => void> => {
    if (onBytes) for (const part of parts) onBytes(part)
    return settled(writeParts(target, parts))
  }
  let sent = send(writer.start())
  let rows = 0
  for await (const batch of batchesOf(schema, columns, chunks, memory)) {
    signal?.throwIfAborted()
    batch.data.children.forEach((child, at) => {
      nulls[at] = (nulls[at] ?? 0) + child.nullCount
    })
    await written(sent)
    sent = send(writer.batch(batch))
    rows += batch.numRows
    onRows?.(batch.numRows)
  }
  await written(sent)
  names.forEach((name, at) => {
    checkNulls(name, nulls[at] ?? 0, collected.get(name))
  })
  await written(send(writer.end()))
  return rows
}

/** Fails where parts could not be written: met when the next ones are sent, which were made meanwhile. */
const written = async (sending: Promise<() => void>): Promise<void> => (await sending)()

/** A value outside the dictionary has no number and would be NULL: a query that gives other rows each time. */
const checkNulls = (column: string, nulls: number, collected: Collected | undefined): void => {
  if (collected === undefined || nulls === collected.nulls) return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot write column "${column}" to Arrow: it has ${nulls} NULLs, when it was read first ${collected.nulls}; ` +
      'a query must give the same rows each time',
    { column },
  )
}

/** Record batches of chunks. */
async function* batchesOf(
  schema: Schema,
  columns: readonly ArrowColumn[],
  chunks: AsyncIterable<RawChunk>,
  memory: Memory,
): AsyncGenerator<RecordBatch> {
  const builders = columns.map((column) => columnBuilder(column, memory))
  const atOnce = columns.every(({ kind }) => kind === 'fixed' || kind === 'boolean' || kind === 'dictionary')
    ? BATCH_ROWS
    : TEXT_ROWS
  let rows = 0
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.rows; ) {
      // The end of a batch must not depend on how the engine cuts its chunks.
      if (rows === BATCH_ROWS || (rows % atOnce === 0 && sizeOf(builders) > BATCH_BYTES)) {
        yield batchOf(schema, builders, rows)
        rows = 0
      }
      const count = Math.min(atOnce - (rows % atOnce), chunk.rows - from)
      appendRows(builders, chunk, from, count)
      rows += count
      from += count
    }
  }
  if (rows > 0) yield batchOf(schema, builders, rows)
}

const sizeOf = (builders: readonly ColumnBuilder[]): number =>
  builders.reduce((sum, builder) => sum + builder.size(), 0)

const appendRows = (
  builders: readonly ColumnBuilder[],
  { columns }: RawChunk,
  from: number,
  count: number,
): void => {
  builders.forEach((builder, at) => {
    const column = columns[at]
    if (column !== undefined) builder.append(column, from, count)
  })
}

const batchOf = (schema: Schema, builders: readonly ColumnBuilder[], length: number): RecordBatch => {
  const children = builders.map((builder) => builder.finish())
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }),
  )
}

/** Resolves when the target has taken all: no more than one batch waits for a slow reader. */
const writeParts = (target: Writable, parts: readonly Uint8Array[]): Promise<void> =>
  new Promise((resolve, reject) => {
    if (parts.length === 0) {
      resolve()
      return
    }
    const fail = (error: Error): void => reject(error)
    target.once('error', fail)
    target.cork()
    parts.forEach((part, at) => {
      if (at < parts.length - 1) {
        target.write(part)
        return
      }
      target.write(part, (error) => {
        target.off('error', fail)
        if (error) reject(error)
        else resolve()
      })
    })
    target.uncork()
  })
