/**
 * Reads objects to their end, or ranges of one object that must stay the same object meanwhile. A broken read is
 * retried from the start, which the clients of object storages do not do.
 */

import { buffer } from 'node:stream/consumers'
import { ToolkitError } from '../core/errors.ts'
import { nameOf, type ObjectBody, type ObjectStore, replacedObject } from './object-store.ts'
import type { FileFacts } from './storage.ts'

export const READ_ATTEMPTS = 4

/** The error where bytes stopped coming each time. @param name as `nameOf` gives it */
export const brokenRead = (name: string, error: unknown): ToolkitError => {
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new ToolkitError('STORAGE_FAILED', `Cannot read "${name}": ${reason}`, {}, new Error(reason))
}

/**
 * Opens an object and hands it to `use`. Where its bytes stop coming `use` is called again with a new one from the
 * start.
 *
 * @returns `null` where there is none
 * @throws {ToolkitError} `STORAGE_FAILED` when it broke off each time, and what `use` throws of its own
 */
export const readObject = async <T>(
  store: ObjectStore,
  path: string,
  use: (body: ObjectBody) => Promise<T>,
  signal?: AbortSignal,
): Promise<T | null> => {
  for (let attempt = 1; ; attempt += 1) {
    const body = await store.get(path, { signal })
    if (body === null) return null
    try {
      return await use(body)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ToolkitError) throw error
      if (attempt < READ_ATTEMPTS) continue
      throw brokenRead(nameOf(store, path), error)
    } finally {
      body.stream.destroy()
    }
  }
}

/** A whole small object; `null` where there is none. */
export const readWhole = (store: ObjectStore, path: string): Promise<Buffer | null> =>
  readObject(store, path, async ({ stream, bytes }) => {
    const whole = await buffer(stream)
    if (whole.length === bytes) return whole
    throw new Error(`it ended after ${whole.length} of ${bytes} bytes`)
  })

/** Called for each request, and for the bytes that came. */
export interface RangeCounter {
  request: () => void
  bytes: (bytes: number) => void
}

export class RangedObject {
  readonly facts: FileFacts
  readonly #store: ObjectStore
  readonly #counter: RangeCounter
  readonly #name: string
  /** As it was opened. */
  #etag: string | undefined

  constructor(store: ObjectStore, facts: FileFacts, counter: RangeCounter) {
    this.facts = facts
    this.#store = store
    this.#counter = counter
    this.#name = nameOf(store, facts.path)
  }

  /**
   * The bytes from one place up to another, piece by piece. Where they stop coming the rest is asked for again.
   *
   * @throws {ToolkitError} `LAKE_DAMAGED`, `STORAGE_REFUSED`, `STORAGE_FAILED`
   */
  async *read(from: number, until: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    let at = from
    for (let attempt = 1; at < until; attempt += 1) {
      const body = await this.#open({ from: at, to: until }, signal)
      try {
        for await (const chunk of body.stream) {
          at += chunk.length
          this.#counter.bytes(chunk.length)
          yield chunk
        }
        if (at < until) throw new Error(`it ended ${until - at} bytes early`)
      } catch (error) {
        signal.throwIfAborted()
        if (attempt === READ_ATTEMPTS) throw brokenRead(this.#name, error)
      } finally {
        body.stream.destroy()
      }
    }
  }

  async #open(
    range: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<ObjectBody> {
    const { path, bytes } = this.facts
    this.#counter.request()
    const body = await this.#store.get(path, { range, etag: this.#etag, signal })
    const state = this.#stateOf(body, bytes)
    if (body !== null && state === undefined) {
      if (this.#etag === undefined || this.#etag === body.etag) {
        this.#etag = body.etag
        return body
      }
    }
    body?.stream.destroy()
    throw state === undefined
      ? replacedObject(this.#name, path)
      : new ToolkitError('LAKE_DAMAGED', `Cannot read "${this.#name}": ${state}`, { path })
  }

  #stateOf(body: ObjectBody | null, bytes: number): string | undefined {
    if (body === null) return `there is no such file, expected ${bytes} bytes`
    return body.bytes === bytes ? undefined : `it has ${body.bytes} bytes, expected ${bytes}`
  }
}
