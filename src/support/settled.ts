/** Promises that nobody awaits yet. */

/** A promise whose failure waits until it is asked for, which prevents unhandledRejection. */
export const settled = <T>(promise: Promise<T>): Promise<() => T> =>
  promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error
    },
  )
