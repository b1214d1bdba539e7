/** Objects of a bucket one at a time, by the paths of a lake: look, read, create, replace. */

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { GetObjectCommandOutput, PutObjectCommandInput } from '@aws-sdk/client-s3'
import { ToolkitError } from '../core/errors.ts'
import { keyOf, keysBelow, type S3Address } from './s3-address.ts'
import { openS3, type S3 } from './s3-client.ts'
import { attemptsOf, isAbsent, isConflict, isTaken, isUploadGone, storageError } from './s3-errors.ts'
import { uploadParts } from './s3-upload.ts'
import type { StoredFile } from './storage.ts'

/** Larger ones are sent in parts. */
const WHOLE_BYTES = 16 * 1024 ** 2
const CONFLICT_TRIES = 8
const CONFLICT_PAUSE_MS = 100
const READ_TRIES = 4
/** Names the call that created an object, in its metadata. */
const CREATOR = 'firmlake-creator'

type ObjectBody = NonNullable<GetObjectCommandOutput['Body']>

const bytesOf = (data: string | Uint8Array): Buffer =>
  typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength)

/** The objects below an address. Every method's errors: `STORAGE_REFUSED`, `STORAGE_FAILED`. */
export class S3Objects {
  readonly address: S3Address
  #opening: Promise<S3> | undefined
  #reached: Promise<void> | undefined

  constructor(address: S3Address) {
    this.address = address
  }

  /** `s3://bucket/prefix/path`, as messages name it. */
  name(path: string): string {
    return `${this.address.uri}/${path}`
  }

  /** Bucket and key of a path, as every command takes them. */
  at(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.address.bucket, Key: keyOf(this.address, path) }
  }

  open(): Promise<S3> {
    // A failure is not kept: the next call may find a region or credentials.
    this.#opening ??= openS3().catch((error: unknown) => {
      this.#opening = undefined
      throw storageError(`Cannot open "${this.address.uri}"`, error)
    })
    return this.#opening
  }

  /** Runs commands; what goes wrong becomes the toolkit's error. */
  async run<T>(action: string, work: (s3: S3) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const s3 = await this.open()
    try {
      return await work(s3)
    } catch (error) {
      signal?.throwIfAborted()
      throw storageError(action, error)
    }
  }

  /** Sees that the bucket is there and may be listed. Once; a failure is not kept. */
  reach(): Promise<void> {
    this.#reached ??= this.run(`Cannot reach "${this.address.uri}"`, async ({ sdk, client }) => {
      const Prefix = keysBelow(this.address, '')
      await client.send(new sdk.ListObjectsV2Command({ Bucket: this.address.bucket, Prefix, MaxKeys: 1 }))
    }).catch((error: unknown) => {
      this.#reached = undefined
      throw error
    })
    return this.#reached
  }

  async look(path: string): Promise<StoredFile | null> {
    const at = this.at(path)
    const found = await this.run(`Cannot look at "${this.name(path)}"`, async ({ sdk, client }) =>
      client.send(new sdk.HeadObjectCommand(at)).catch((error: unknown) => {
        if (isAbsent(error)) return null
        throw error
      }),
    )
    // The answer to HEAD has no body, so a missing bucket looks like a missing object.
    if (found === null) await this.reach()
    return found && { path, bytes: found.ContentLength ?? 0, changedMs: found.LastModified?.getTime() ?? 0 }
  }

  /**
   * Opens an object and hands it to `use`. Where its bytes stop coming in the midst `use` is called again with a new
   * one from the start: the SDK repeats requests, not bodies.
   *
   * @returns `null` where there is none
   */
  async download<T>(
    path: string,
    use: (body: ObjectBody, answer: GetObjectCommandOutput) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T | null> {
    const action = `Cannot read "${this.name(path)}"`
    const at = this.at(path)
    for (let tries = 1; ; tries += 1) {
      const answer = await this.run(
        action,
        ({ sdk, client }) =>
          client
            .send(new sdk.GetObjectCommand(at), signal && { abortSignal: signal })
            .catch((error: unknown) => {
              if (isAbsent(error)) return null
              throw error
            }),
        signal,
      )
      if (answer === null) return null
      if (answer.Body === undefined) throw storageError(action, new Error('the answer has no body'))
      try {
        return await use(answer.Body, answer)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ToolkitError) throw error
        if (tries === READ_TRIES) throw storageError(action, error)
      }
    }
  }

  read(path: string): Promise<Buffer | null> {
    return this.download(path, async (body) => Buffer.from(await body.transformToByteArray()))
  }

  async #put(path: string, body: Buffer, condition: Partial<PutObjectCommandInput>): Promise<void> {
    const s3 = await this.open()
    const params = { ...this.at(path), ...condition }
    if (body.length > WHOLE_BYTES) await uploadParts(s3, params, body, body.length)
    else
      await s3.client.send(new s3.sdk.PutObjectCommand({ ...params, Body: body, ContentLength: body.length }))
  }

  /** Marks a folder by an empty object of its name with a slash. */
  async mark(folder: string): Promise<void> {
    const at = { Bucket: this.address.bucket, Key: keysBelow(this.address, folder) }
    await this.run(`Cannot mark "${this.name(folder)}" as a folder`, ({ sdk, client }) =>
      client.send(new sdk.PutObjectCommand({ ...at, Body: Buffer.alloc(0), ContentLength: 0 })),
    )
  }

  async replace(path: string, data: string | Uint8Array): Promise<void> {
    await this.run(`Cannot write "${this.name(path)}"`, () => this.#put(path, bytesOf(data), {}))
  }

  /**
   * Creates an object if there is none. The answer to a request that was carried out may be lost; the request that the
   * SDK sends again is then refused because of the first one. So where there was more than one request the object is
   * asked who created it.
   *
   * @returns whether it was created by this call
   */
  async create(path: string, data: string | Uint8Array): Promise<boolean> {
    const action = `Cannot create "${this.name(path)}"`
    const body = bytesOf(data)
    const creator = randomUUID()
    const condition = { IfNoneMatch: '*', Metadata: { [CREATOR]: creator } }
    let unseen = body.length > WHOLE_BYTES
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#put(path, body, condition)
        return true
      } catch (error) {
        unseen ||= attemptsOf(error) > 1
        if (isTaken(error) || isUploadGone(error)) {
          const own = unseen && (await this.#isCreatedBy(path, creator, body))
          if (own || isTaken(error)) return own
        }
        if (!isConflict(error) || tries === CONFLICT_TRIES) throw storageError(action, error)
        await setTimeout(CONFLICT_PAUSE_MS * tries * Math.random())
      }
    }
  }

  /** By its metadata; where the endpoint keeps none, by its bytes. */
  async #isCreatedBy(path: string, creator: string, body: Buffer): Promise<boolean> {
    const own = await this.download(path, async (found, { Metadata }) => {
      const named = Metadata?.[CREATOR]
      const bytes = await found.transformToByteArray()
      return named === undefined ? body.equals(bytes) : named === creator
    })
    return own ?? false
  }
}
