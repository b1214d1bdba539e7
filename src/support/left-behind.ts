/**
 * Work that continues after it was given up, because nothing stops it. Each holds a thread of Node's pool, the threads and the memory
 * of its own, and would keep the process from ending: so there may be a few of them at most, in all of the process.
 */

/** As Node has it, unless told otherwise. */
const POOL_THREADS = 4
/** Threads for all other work. */
const KEPT_THREADS = 1
const MOST = 3

let now = 0
let ever = 0

/** How much of such work there is. */
export const leftBehind = (): number => now
/** How often work was left behind, what has ended since included. */
export const timesLeft = (): number => ever

/** How much there may be. */
export const mostLeftBehind = (env: NodeJS.ProcessEnv = process.env): number =>
  Math.max(1, Math.min(MOST, (Number(env.UV_THREADPOOL_SIZE) || POOL_THREADS) - KEPT_THREADS))

/** Threads of Node's pool with which there may be as much as there is to be at most. */
export const ROOMY_POOL = MOST + POOL_THREADS

/** @param ended called when the work has ended after all */
export const leaveBehind = (work: Promise<unknown>, ended: () => void): void => {
  now += 1
  ever += 1
  const end = (): void => {
    now -= 1
    ended()
  }
  work.then(end, end)
}
