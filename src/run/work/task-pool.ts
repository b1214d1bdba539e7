/** Jobs that run beside a loop: a few at a time, the first failure stops the loop, and none outlives it. */

import { atMost } from '../../support/side-by-side.ts'

export class TaskPool {
  readonly #maxRunning: number
  readonly #limit: ReturnType<typeof atMost>
  readonly #stopReason: () => unknown
  readonly #running = new Set<Promise<boolean>>()
  readonly #followUps = new Set<Promise<void>>()
  readonly #failures: unknown[] = []

  /** @param stopReason returns the error to stop with, where the loop was stopped from outside */
  constructor(maxRunning: number, stopReason: () => unknown) {
    this.#maxRunning = maxRunning
    this.#limit = atMost(maxRunning)
    this.#stopReason = stopReason
  }

  /** Runs a job as soon as a slot is free. @returns whether it succeeded, once it has ended; never rejects */
  start(job: () => Promise<void>): Promise<boolean> {
    const tracked = this.#limit(() => this.#recordFailure(job)).finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
    return tracked
  }

  /** Runs a short follow-up once all of these jobs have succeeded. */
  afterSuccess(jobs: readonly Promise<boolean>[], job: () => Promise<void>): void {
    const tracked = Promise.all(jobs)
      .then((successes) => this.#recordFailure(successes.every(Boolean) ? job : async () => undefined))
      .then(() => {
        this.#followUps.delete(tracked)
      })
    this.#followUps.add(tracked)
  }

  /** Waits until another job may start. @throws the first failure, or the reason why the loop is stopped */
  async waitForSlot(): Promise<void> {
    while (this.#running.size >= this.#maxRunning) await Promise.race(this.#running)
    this.throwIfStopped()
  }

  /** Waits for all jobs. @throws as `waitForSlot` */
  async waitForSuccess(): Promise<void> {
    await this.waitForEnd()
    this.throwIfStopped()
  }

  /** Waits for all jobs, failed or not. */
  async waitForEnd(): Promise<void> {
    await Promise.all(this.#running)
    await Promise.all(this.#followUps)
  }

  fail(error: unknown): void {
    this.#failures.push(error)
  }

  throwIfStopped(): void {
    if (this.#failures.length > 0) throw this.#failures[0]
    const reason = this.#stopReason()
    if (reason !== undefined) throw reason
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
