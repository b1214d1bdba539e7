/** Reads objects to their end: a broken read is retried from the start, which the clients of object storages do not do. */

import { buffer } from 'node:stream/consumers'
import { ToolkitError } from '../core/errors.ts'
import type { ObjectBody, ObjectStore } from './object-store.ts'
import { nameOf } from './store-paths.ts'

export const READ_ATTEMPTS = 4

/** Of bytes that stopped coming each time. @param name as `nameOf` gives it */
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
