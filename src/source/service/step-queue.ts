/** Steps one after the other, some of them slow; the stream that brings them is held while one is under way. */

export interface StepQueue {
  /** Does the step now, or after those under way. Nothing is done any more after one has failed. */
  readonly run: (step: () => Promise<void> | undefined) => void
  /** Fulfilled when nothing is under way; never rejected. */
  readonly idle: () => Promise<void>
}

export const stepQueue = (on: {
  readonly pause: () => void
  readonly resume: () => void
  readonly fail: (error: unknown) => void
}): StepQueue => {
  let work: Promise<void> = Promise.resolve()
  let underWay = 0
  let broken = false
  const fail = (error: unknown): void => {
    if (!broken) on.fail(error)
    broken = true
  }
  const done = (): void => {
    underWay -= 1
    if (underWay === 0) on.resume()
  }
  const follow = (promise: Promise<void>): void => {
    underWay += 1
    on.pause()
    work = promise.catch(fail).then(done)
  }
  return {
    run: (step) => {
      if (broken) return
      if (underWay > 0) return follow(work.then(() => (broken ? undefined : step())))
      try {
        const promise = step()
        if (promise) follow(promise)
      } catch (error) {
        fail(error)
      }
    },
    idle: () => work,
  }
}
