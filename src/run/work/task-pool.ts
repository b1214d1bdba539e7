/** Jobs that run beside a loop: a few at a time, the first failure stops the loop, and none outlives it. */

import { atMost } from '../../support/side-by-side.ts'

export class TaskPool {
  readonly #atOnce: number
  readonly #limit: ReturnType<typeof atMost>
  readonly #stopped: () => unknown
  readonly #working = new Set<Promise<boolean>>()
  readonly #after = new Set<Promise<void>>()
  readonly #failures: unknown[] = []

  /** @param stopped gives the error to stop with, where the loop was stopped from outside */
  constructor(atOnce: number, stopped: () => unknown) {
    this.#atOnce = atOnce
    this.#limit = atMost(atOnce)
    this.#stopped = stopped
  }

  /** Takes a job in; it waits where there is no room. @returns whether it succeeded, when it is done; never fails */
  start(job: () => Promise<void>): Promise<boolean> {
    const tracked = this.#limit(() => this.#recordFailure(job)).finally(() => this.#working.delete(tracked))
    this.#working.add(tracked)
    return tracked
  }

  /** Does something small when all of some jobs have succeeded. */
  whenDone(jobs: readonly Promise<boolean>[], job: () => Promise<void>): void {
    const tracked = Promise.all(jobs)
      .then((successes) => this.#recordFailure(successes.every(Boolean) ? job : async () => undefined))
      .then(() => {
        this.#after.delete(tracked)
      })
    this.#after.add(tracked)
  }

  get isIdle(): boolean {
    return this.#working.size === 0
  }

  /** Waits until another job may start. @throws the first failure, or what stops the loop */
  async room(): Promise<void> {
    while (this.#working.size >= this.#atOnce) await Promise.race(this.#working)
    this.throwIfStopped()
  }

  /** Waits for all jobs. @throws as `room` */
  async idle(): Promise<void> {
    await this.ended()
    this.throwIfStopped()
  }

  /** Waits for all jobs, failed or not. */
  async ended(): Promise<void> {
    await Promise.all(this.#working)
    await Promise.all(this.#after)
  }

  fail(error: unknown): void {
    this.#failures.push(error)
  }

  throwIfStopped(): void {
    if (this.#failures.length > 0) throw this.#failures[0]
    const stopped = this.#stopped()
    if (stopped !== undefined) throw stopped
  }

  async #recordFailure(job: () => Promise<void>): Promise<boolean> {
    try {
      await job()
      return true
    } catch (error) {
      this.fail(error)
      return false
    }
  }
}
