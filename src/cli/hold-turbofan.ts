/** When V8 begins to use its best compiler. */

import { setFlagsFromString } from 'node:v8'

/** Most commands are done by then, and of a longer one it is little. */
const HOLD_MS = 1000

/** Whether V8 has the compiler that is quick itself, and makes code that is nearly as good. */
const HAS_MAGLEV =
  'v8_enable_maglev' in process.config.variables && process.config.variables.v8_enable_maglev === 1

/** Of a larger input, as it is stored, TurboFan's code is run for long: a second without it would be lost. */
const LARGE_BYTES = 16 * 1024 ** 2

let hold: NodeJS.Timeout | undefined

/**
 * Lets V8 do without TurboFan at first: what that compiles in the first second is hardly run before most commands end. A load of
 * 24 MB takes 0.87 of the CPU so. To be called before the compile cache is enabled, whose code is of the same flags only.
 */
export const holdTurboFan = (ms = HOLD_MS, hasMaglev = HAS_MAGLEV): void => {
  if (!hasMaglev) return
  // No function has this name.
  setFlagsFromString('--turbo-filter=none')
  hold = setTimeout(release, ms).unref()
}

const release = (): void => {
  if (hold === undefined) return
  clearTimeout(hold)
  hold = undefined
  setFlagsFromString('--turbo-filter=*')
}

/** Ends the hold where there is much to do. @param bytes of the input as it is stored; absent where nobody knows */
export const releaseTurboFan = (bytes: number | undefined): void => {
  if (bytes !== undefined && bytes > LARGE_BYTES) release()
}
