/** The parts that are being loaded side by side, and what each does at once. */

import { settled } from '../support/settled.ts'

export class PartsAtWork {
  #count = 0
  #waiting: (() => void)[] = []

  begin(): void {
    this.#count++
  }

  end(): void {
    this.#count--
    if (this.#count === 1) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /**
   * Does two things of a part one after the other, and both at once as soon as no other part is loaded: with one part in hand,
   * as of a small input and at the end of a large one, a core would have nothing to do.
   *
   * @returns when both have ended, what they gave. @throws what one of them threw, when neither is under way any more
   */
  async inTurn<T>(first: () => Promise<T>, second: () => Promise<T>): Promise<readonly [T, T]> {
    const begun = settled(first())
    try {
      const ended = await Promise.race([begun, this.#oneLeft()])
      ended?.()
      const after = await second()
      return [(await begun)(), after]
    } finally {
      await begun
    }
  }

  /** Waits until no other part is being loaded. */
  async #oneLeft(): Promise<void> {
    if (this.#count > 1) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
