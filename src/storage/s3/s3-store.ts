/**
 * A prefix of a bucket on AWS or any endpoint that speaks S3, as an object store. Credentials: the SDK's usual chain.
 */

import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { PutObjectCommandInput } from '@aws-sdk/client-s3'
import {
  hasBadSegment,
  type ListedObject,
  type ListOptions,
  notOfLake,
  type ObjectStore,
  type Patience,
  replacedObject,
} from '../object-store.ts'
import { keyPrefix, parseS3Address, pathOfKey } from './s3-address.ts'
import { S3Connection } from './s3-connection.ts'
import {
  attemptsOf,
  isAbsent,
  isConflict,
  isTaken,
  isUnknownOperation,
  isUploadGone,
  storageError,
} from './storage-error.ts'
import { uploadFile, uploadParts } from './upload-file.ts'

const listObjects = async function* (
  connection: S3Connection,
  prefix: string,
  { folders = false, pageSize }: ListOptions = {},
): AsyncGenerator<ListedObject> {
  const { address } = connection
  if (prefix !== '' && hasBadSegment(prefix.replace(/\/$/, ''))) throw notOfLake(address, prefix)
  const Prefix = keyPrefix(address, prefix)
  const asked = {
    ...{ Bucket: address.bucket, Prefix },
    ...(folders && { Delimiter: '/' }),
    ...(pageSize !== undefined && { MaxKeys: pageSize }),
  }
  let token: string | undefined
  do {
    const ContinuationToken = token
    const {
      Contents = [],
      CommonPrefixes = [],
      ...page
    } = await connection.run(
      `Cannot list "s3://${address.bucket}/${Prefix}" of lake "${address.uri}"`,
      ({ sdk, client }) => client.send(new sdk.ListObjectsV2Command({ ...asked, ContinuationToken })),
    )
    for (const { Key = '', Size = 0, LastModified } of Contents)
      yield { path: pathOfKey(address, Key), bytes: Size, changedMs: LastModified?.getTime() ?? 0 }
    for (const { Prefix: Folder = '' } of CommonPrefixes)
      yield { path: pathOfKey(address, Folder), bytes: 0, changedMs: 0 }
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
}

/** The most that `DeleteObjects` takes. */
const DELETE_AT_ONCE = 1000

const deleteOne = (connection: S3Connection, path: string): Promise<void> => {
  const at = connection.at(path)
  return connection.run(`Cannot remove "${connection.name(path)}"`, async ({ sdk, client }) => {
    try {
      await client.send(new sdk.DeleteObjectCommand(at))
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
  })
}

/** @returns those that were not removed */
const deleteBatch = (connection: S3Connection, paths: readonly string[]): Promise<readonly string[]> => {
  const byKey = new Map(paths.map((path) => [connection.at(path).Key, path]))
  const Objects = [...byKey.keys()].map((Key) => ({ Key }))
  return connection.run(`Cannot remove files of "${connection.address.uri}"`, async ({ sdk, client }) => {
    try {
      const command = { Bucket: connection.address.bucket, Delete: { Objects, Quiet: true } }
      const { Errors = [] } = await client.send(new sdk.DeleteObjectsCommand(command))
      return Errors.flatMap(({ Key = '' }) => byKey.get(Key) ?? [])
    } catch (error) {
      if (isUnknownOperation(error)) return paths
      throw error
    }
  })
}

/** Removes objects; such as are gone already are fine. Those of one request go in any order. */
const deleteObjects = async (connection: S3Connection, paths: readonly string[]): Promise<void> => {
  for (let from = 0; from < paths.length; from += DELETE_AT_ONCE) {
    const some = paths.slice(from, from + DELETE_AT_ONCE)
    // Objects that a request for many left are retried one by one, which also shows what is wrong with them.
    const left = some.length > 1 ? await deleteBatch(connection, some) : some
    for (const path of left) await deleteOne(connection, path)
  }
}

/** Larger ones are sent in parts. */
const WHOLE_BYTES = 16 * 1024 ** 2
const CONFLICT_ATTEMPTS = 8
const CONFLICT_PAUSE_MS = 100
/** Names the call that created an object, in its metadata. */
const CREATOR = 'firmlake-creator'
/** A browser shows a page that says so of itself; others it would save. */
const PAGE = { ContentType: 'text/html; charset=utf-8' }

const putBytes = async (
  connection: S3Connection,
  path: string,
  data: Uint8Array,
  condition: Partial<PutObjectCommandInput> = {},
): Promise<void> => {
  const s3 = await connection.open()
  const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const params = { ...connection.at(path), ...condition }
  if (body.length > WHOLE_BYTES) await uploadParts(s3, params, body, body.length)
  else
    await s3.client.send(new s3.sdk.PutObjectCommand({ ...params, Body: body, ContentLength: body.length }))
}

/** Whether an object is the one created here: by its metadata; where the endpoint keeps none, by its bytes. */
const isCreatedBy = (
  connection: S3Connection,
  path: string,
  creator: string,
  data: Uint8Array,
): Promise<boolean> =>
  connection.run(`Cannot read "${connection.name(path)}"`, async ({ sdk, client }) => {
    const found = await client.send(new sdk.GetObjectCommand(connection.at(path))).catch((error: unknown) => {
      if (isAbsent(error)) return undefined
      throw error
    })
    const named = found?.Metadata?.[CREATOR]
    const bytes = await found?.Body?.transformToByteArray()
    if (named !== undefined) return named === creator
    return bytes !== undefined && Buffer.from(data).equals(bytes)
  })

/**
 * The answer to a request that was carried out may be lost; the request that the SDK sends again is then refused
 * because of the first one. So where there was more than one request the object is asked who created it.
 */
const putIfAbsent = async (connection: S3Connection, path: string, data: Uint8Array): Promise<boolean> => {
  const action = `Cannot create "${connection.name(path)}"`
  const creator = randomUUID()
  const condition = { IfNoneMatch: '*', Metadata: { [CREATOR]: creator } }
  let unseen = data.length > WHOLE_BYTES
  for (let attempt = 1; ; attempt += 1) {
    try {
      await putBytes(connection, path, data, condition)
      return true
    } catch (error) {
      unseen ||= attemptsOf(error) > 1
      if (isTaken(error) || isUploadGone(error)) {
        const own = unseen && (await isCreatedBy(connection, path, creator, data))
        if (own || isTaken(error)) return own
      }
      if (!isConflict(error) || attempt === CONFLICT_ATTEMPTS) throw storageError(action, error)
      await setTimeout(CONFLICT_PAUSE_MS * attempt * Math.random())
    }
  }
}

/** The answer to HEAD has no body, so a missing bucket looks like a missing object. */
const seeBucket = async (connection: S3Connection): Promise<void> => {
  for await (const _ of listObjects(connection, '', { pageSize: 1 })) return
}

/**
 * The object store of an address `s3://bucket/prefix`. Nothing is loaded or asked before the first call.
 *
 * @param patience @default that of loads, which outlasts a server that starts again
 * @throws {ToolkitError} `USAGE` for an address that names no place in a bucket
 */
export const s3Store = (address: string, patience?: Patience): ObjectStore => {
  const connection = new S3Connection(parseS3Address(address, process.env), patience)
  let seen = false
  return {
    address: connection.address,

    head: async (path) => {
      const at = connection.at(path)
      const action = `Cannot stat "${connection.name(path)}"`
      const found = await connection.run(action, ({ sdk, client }) =>
        client.send(new sdk.HeadObjectCommand(at)).catch((error: unknown) => {
          if (isAbsent(error)) return null
          throw error
        }),
      )
      if (found === null && !seen) await seeBucket(connection)
      seen = true
      return found && { path, bytes: found.ContentLength ?? 0, changedMs: found.LastModified?.getTime() ?? 0 }
    },

    get: async (path, { range, etag, signal } = {}) => {
      const command = {
        ...connection.at(path),
        ...(range !== undefined && { Range: `bytes=${range.from}-${range.to - 1}` }),
        ...(etag !== undefined && { IfMatch: etag }),
      }
      const action = `Cannot read "${connection.name(path)}"`
      const answer = await connection.run(
        action,
        ({ sdk, client }) =>
          client
            .send(new sdk.GetObjectCommand(command), signal && { abortSignal: signal })
            .catch((error: unknown) => {
              if (isAbsent(error)) return null
              if (isTaken(error)) throw replacedObject(connection.name(path), path)
              throw error
            }),
        signal,
      )
      if (answer === null) return null
      // An endpoint that ignores the range would send the object from its start.
      if (range !== undefined && !answer.ContentRange?.startsWith(`bytes ${range.from}-`))
        throw storageError(action, new Error('the endpoint does not answer with the range asked for'))
      if (!(answer.Body instanceof Readable)) throw storageError(action, new Error('the answer has no body'))
      const whole = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1]
      return {
        stream: answer.Body,
        bytes: Number(whole ?? answer.ContentLength ?? 0),
        ...(answer.ETag !== undefined && { etag: answer.ETag }),
      }
    },

    put: (path, data) =>
      connection.run(`Cannot write "${connection.name(path)}"`, () =>
        putBytes(connection, path, data, /\.html?$/i.test(path) ? PAGE : {}),
      ),

    putIfAbsent: (path, data) => putIfAbsent(connection, path, data),

    putFile: (from, facts) => {
      const name = connection.name(facts.path)
      return connection.run(`Cannot store "${name}"`, (s3) =>
        uploadFile(s3, connection.at(facts.path), from, facts, name),
      )
    },

    list: (prefix, options) => listObjects(connection, prefix, options),
    delete: (paths) => deleteObjects(connection, paths),
  }
}
