/**
 * Begins a source before its turn: its first block is decoded while the last ones of the source before it are checked and
 * loaded. Else every source would begin with a wait for its first block.
 */

import { settled } from '../../support/settled.ts'
import type { SourceOutcome } from './load-source.ts'

/** A source that comes next. */
export interface NextSource {
  readonly index: number
  /** Whether it will be loaded, as far as that is known before its turn. */
  readonly isWanted: () => Promise<boolean>
  /** @param turn as `loadSource` waits for it */
  readonly begin: (turn: Promise<boolean>) => Promise<SourceOutcome>
}

interface BegunSource {
  readonly index: number
  readonly outcome: Promise<() => SourceOutcome>
  readonly turn: (isWanted: boolean) => void
}

export class EarlySource {
  #next: NextSource | undefined
  #begun: BegunSource | undefined
  /** The source whose turn it is. */
  #current = -1
  #isDecoding = true

  /** Names the source that comes next: it is begun as soon as nothing else is being decoded. */
  offer(next: NextSource): void {
    this.#next = next
    void this.#begin()
  }

  /** Says that the current source is decoded. */
  decoded(): void {
    this.#isDecoding = false
    void this.#begin()
  }

  async #begin(): Promise<void> {
    const next = this.#next
    if (this.#isDecoding || this.#begun !== undefined || next === undefined) return
    this.#next = undefined
    this.#isDecoding = true
    const isWanted = await next.isWanted().catch(() => false)
    // Its turn may have come meanwhile.
    if (next.index <= this.#current) return
    if (!isWanted) return this.decoded()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#begun = { index: next.index, outcome: settled(next.begin(promise)), turn: resolve }
  }

  /** Loads a source whose turn it is: what was begun of it goes on. */
  async load(index: number, begin: () => Promise<SourceOutcome>): Promise<SourceOutcome> {
    const begun = this.#take(index)
    if (begun === undefined) {
      this.#isDecoding = true
      return begin()
    }
    begun.turn(true)
    void this.#begin()
    return (await begun.outcome)()
  }

  /** Ends the turn of a source: what was begun of it and is not loaded is given up. */
  async end(index: number): Promise<void> {
    await this.#giveUp(this.#take(index))
  }

  /** Gives up whatever was begun. */
  async stop(): Promise<void> {
    this.#current = Number.POSITIVE_INFINITY
    await this.#giveUp(this.#begun)
  }

  #take(index: number): BegunSource | undefined {
    this.#current = Math.max(this.#current, index)
    const begun = this.#begun
    if (begun?.index !== index) return undefined
    this.#begun = undefined
    return begun
  }

  async #giveUp(begun: BegunSource | undefined): Promise<void> {
    begun?.turn(false)
    await begun?.outcome
  }
}
