/** Ranges of one object that must stay the same object meanwhile: compared by its length and its ETag. */

import { ToolkitError } from '../core/errors.ts'
import type { ObjectBody, ObjectStore } from './object-store.ts'
import { brokenRead, READ_ATTEMPTS } from './read-object.ts'
import type { FileFacts } from './storage.ts'
import { nameOf, replacedObject } from './store-paths.ts'

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
