/** Avro object container files, whole in memory: Iceberg's manifests are small. The only importer of avsc. */

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { schema } from 'avsc'

export type FieldType = schema.DefinedType

/** A field of a record, with Iceberg's id. */
export interface AvroField {
  readonly name: string
  readonly type: schema.AvroSchema
  readonly default?: null
  readonly 'field-id': number
}

/** An Avro schema of a record as JSON. */
export interface AvroSchema {
  readonly type: 'record'
  readonly name: string
  readonly fields: AvroField[]
}

// avsc takes long to load, and only who publishes needs it.
const avsc = () => import('avsc')

/**
 * A whole file.
 *
 * @param metadata further entries of the file's header
 * @throws {Error} when a record is not of the schema
 */
export const encodeAvro = async (
  schema: AvroSchema,
  records: readonly unknown[],
  metadata: Readonly<Record<string, string>>,
): Promise<Buffer> => {
  const { default: avro } = await avsc()
  const options = {
    codec: 'deflate',
    syncMarker: randomBytes(16),
    writeHeader: 'always' as const,
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text)])),
  }
  const encoder = new avro.streams.BlockEncoder(schema, options)
  const chunks: Buffer[] = []
  await pipeline(Readable.from(records), encoder, async (data: AsyncIterable<Buffer>) => {
    for await (const chunk of data) chunks.push(chunk)
  })
  return Buffer.concat(chunks)
}

/**
 * The records of a file, in the form of the reader's schema.
 *
 * @throws {Error} when it is no such file, or was written with a schema that does not go with the reader's
 */
export const decodeAvro = async <T>(bytes: Buffer, schema: AvroSchema): Promise<T[]> => {
  const { default: avro } = await avsc()
  const decoder = new avro.streams.BlockDecoder({ readerSchema: schema })
  const records: T[] = []
  await pipeline(Readable.from([bytes]), decoder, async (data: AsyncIterable<T>) => {
    for await (const record of data) records.push(record)
  })
  return records
}
