/**
 * Reads objects to their end, or ranges of one object that must stay the same object meanwhile. A broken read is
 * retried from the start, which the clients of object storages do not do.
 */

import { buffer } from 'node:stream/consumers'
import { ToolkitError } from '../core/errors.ts'
import { nameOf, type ObjectBody, type ObjectStore, replacedObject } from './object-store.ts'
import type { FileFacts } from './storage.ts'

const READ_ATTEMPTS = 4

/** The error where bytes stopped coming each time. @param name as `nameOf` gives it */
const brokenRead = (name: string, error: unknown): ToolkitError => {
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
interface RangeCounter {
  request: () => void
  bytes: (bytes: number) => void
}

export interface RangedObject {
  readonly facts: FileFacts
  /**
   * The bytes from one place up to another, piece by piece. Where they stop coming the rest is asked for again.
   *
   * @throws {ToolkitError} `LAKE_DAMAGED`, `STORAGE_REFUSED`, `STORAGE_FAILED`
   */
  readonly read: (from: number, until: number, signal: AbortSignal) => AsyncGenerator<Buffer>
}

export const rangedObject = (store: ObjectStore, facts: FileFacts, counter: RangeCounter): RangedObject => {
  const { path, bytes: expected } = facts
  const name = nameOf(store, path)
  /** ETag of the object as it was opened. */
  let etag: string | undefined

  const open = async (
    range: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<ObjectBody> => {
    counter.request()
    const body = await store.get(path, { range, etag, signal })
    const damaged = (state: string): ToolkitError =>
      new ToolkitError('LAKE_DAMAGED', `Cannot read "${name}": ${state}`, { path })
    if (body === null) throw damaged(`there is no such file, expected ${expected} bytes`)
    if (body.bytes === expected && (etag === undefined || etag === body.etag)) {
      etag = body.etag
      return body
    }
    body.stream.destroy()
    throw body.bytes === expected
      ? replacedObject(name, path)
      : damaged(`it has ${body.bytes} bytes, expected ${expected}`)
  }

  return {
    facts,
    read: async function* (from, until, signal) {
      let at = from
      for (let attempt = 1; at < until; attempt += 1) {
        const body = await open({ from: at, to: until }, signal)
        try {
          for await (const chunk of body.stream) {
            at += chunk.length
            counter.bytes(chunk.length)
            yield chunk
          }
          if (at < until) throw new Error(`it ended ${until - at} bytes early`)
        } catch (error) {
          signal.throwIfAborted()
          if (attempt === READ_ATTEMPTS) throw brokenRead(name, error)
        } finally {
          body.stream.destroy()
        }
      }
    },
  }
}

/** The last bytes of an object. @throws {ToolkitError} as `rangedObject` */
export const readEnd = async (store: ObjectStore, facts: FileFacts, bytes: number): Promise<Buffer> => {
  const uncounted = { request: () => undefined, bytes: () => undefined }
  const { read } = rangedObject(store, facts, uncounted)
  const { signal } = new AbortController()
  return Buffer.concat(await Array.fromAsync(read(facts.bytes - bytes, facts.bytes, signal)))
}
