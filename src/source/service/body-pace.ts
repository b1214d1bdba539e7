/** Detects a body that trickles: the timeouts between chunks do not. */

/** A body must bring so many bytes in each interval of so many milliseconds. */
const INTERVAL_MS = 60_000
const LEAST_BYTES = 60 * 1024

/** Returns false once a whole interval brought too little. Call it for each chunk, with its length in bytes. */
export const bodyPace = (now: () => number): ((sizeBytes: number) => boolean) => {
  let from = now()
  let bytes = 0
  return (sizeBytes) => {
    bytes += sizeBytes
    if (now() - from <= INTERVAL_MS) return true
    if (bytes < LEAST_BYTES) return false
    from = now()
    bytes = 0
    return true
  }
}
