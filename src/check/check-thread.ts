/** A thread that checks blocks, as the thread that feeds it sees it. */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/lines.ts'
import { type BlockMessage, BlockRows } from '../rows/block-rows.ts'
import type { NameSets } from '../rows/seen-sets.ts'
import { ownCode } from '../support/own-package.ts'
import type { CheckedBlock } from './check-block.ts'
import type { CheckAnswer, CheckTask, MoreNames } from './check-worker.ts'
import type { CheckOptions } from './drift/check-options.ts'

const CODE = ownCode('check/check-worker')
/** V8 would let it grow to 128, more than `--memory` counts for a thread. */
const LIMITS = { maxYoungGenerationSizeMb: 24 }

class Mirror {
  readonly names: string[] = []
  full = false
  add({ names, full }: MoreNames): void {
    for (const name of names) this.names.push(name)
    this.full = full
  }
}

export class CheckThread {
  readonly #worker: Worker
  /** The names that the codes of this thread's columns stand for. */
  readonly #names = {
    countries: new Mirror(),
    currencies: new Mirror(),
    categories: new Mirror(),
    lineItems: new Mirror(),
  } satisfies NameSets

  constructor(settings: CheckOptions) {
    this.#worker = new Worker(CODE, { workerData: settings, resourceLimits: LIMITS })
    // A thread that waits for a block keeps no process alive.
    this.#worker.unref()
    // An error is thrown to whoever waits for an answer.
    this.#worker.on('error', () => undefined)
  }

  /** Checks one block; another one may be given when this one is done. @throws what the thread threw */
  async check(
    block: Block,
    content: Content,
    listAllItems: boolean,
    used: BlockMessage | undefined,
  ): Promise<CheckedBlock & { readonly rows: BlockRows }> {
    const { release: _, bytes, ...place } = block
    const task: CheckTask = {
      content,
      listAllItems,
      rows: used,
      block: { ...place, bytes: inSharedMemory(bytes) },
    }
    const answered = once(this.#worker, 'message')
    this.#worker.ref()
    this.#worker.postMessage(task)
    const [answer]: CheckAnswer[] = await answered
    this.#worker.unref()
    if (answer === undefined) throw new TypeError('Cannot check a block: its thread gave no answer')
    this.#names.countries.add(answer.names.countries)
    this.#names.currencies.add(answer.names.currencies)
    this.#names.categories.add(answer.names.categories)
    this.#names.lineItems.add(answer.names.lineItems)
    const rows = new BlockRows(this.#names)
    rows.adopt(answer.rows)
    return { ...restored(answer), rows, parts: answer.parts.map((members) => ({ rows, members })) }
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Bytes of a message arrive as plain arrays of bytes. */
const restored = ({ checked }: CheckAnswer): Omit<CheckedBlock, 'parts'> => ({
  ...checked,
  rejected: checked.rejected.map((line) => ({ ...line, raw: Buffer.from(line.raw) })),
})

/** Memory that both threads see; what stands in another one is copied, as a last block may. */
const inSharedMemory = (bytes: Buffer): Uint8Array => {
  const { buffer, byteOffset, byteLength } = bytes
  if (buffer instanceof SharedArrayBuffer) return new Uint8Array(buffer, byteOffset, byteLength)
  const shared = new Uint8Array(new SharedArrayBuffer(byteLength))
  shared.set(bytes)
  return shared
}
