/** The part of V8's memory where new objects are made. */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8 takes 128 MiB in time (32 with Node 22); a load is no slower with this. */
const ENOUGH_BYTES = 16 * 1024 ** 2
const LOOK_EVERY_MS = 50

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0

/**
 * Lets V8's young generation grow to 16 MiB and no further: it doubles it as long as a load lasts, and what a load takes is not
 * to grow with its input. `--max-semi-space-size` is read before a program begins; the factor of growth at each growth.
 */
export const boundYoungGeneration = (): void => {
  const look = setInterval(() => {
    if (youngBytes() < ENOUGH_BYTES) return
    setFlagsFromString('--semi-space-growth-factor=1')
    clearInterval(look)
  }, LOOK_EVERY_MS)
  look.unref()
}
