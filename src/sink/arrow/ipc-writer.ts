/** Arrow's IPC formats as bytes: apache-arrow's writers, with a place to put their bytes that is ours. */

import {
  AsyncByteQueue,
  Message,
  type RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  type Schema,
} from 'apache-arrow'

/** `file` has a footer and is read at any place; `stream` is read from its beginning and may go through a pipe. */
export type ArrowKind = 'file' | 'stream'

/** Gives each batch as bytes; nothing is held back. */
export interface IpcWriter {
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

export const ipcWriter = (kind: ArrowKind, schema: Schema): IpcWriter => {
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
