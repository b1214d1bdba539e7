/** The connection to a bucket of S3, opened at its first use, and what each command needs of it. */

import { ToolkitError } from '../../core/errors.ts'
import type { Patience } from '../object-store.ts'
import { nameOf } from '../store-paths.ts'
import { openS3, type S3 } from './open-s3.ts'
import { keyOf, type S3Address } from './s3-address.ts'
import { storageError } from './storage-error.ts'

export class S3Connection {
  readonly address: S3Address
  #opening: Promise<S3> | undefined

  readonly #patience: Patience | undefined

  constructor(address: S3Address, patience?: Patience) {
    this.address = address
    this.#patience = patience
  }

  /** `s3://bucket/prefix/path`, as messages name it. */
  name(path: string): string {
    return nameOf(this, path)
  }

  /** Bucket and key of a path, as every command takes them. */
  at(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.address.bucket, Key: keyOf(this.address, path) }
  }

  open(): Promise<S3> {
    // A failure is not kept: the next call may find a region or credentials.
    this.#opening ??= openS3(this.#patience).catch((error: unknown) => {
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
      if (error instanceof ToolkitError) throw error
      throw storageError(action, error)
    }
  }
}
