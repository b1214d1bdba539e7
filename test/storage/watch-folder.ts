/** Watches how much lies in a folder while something is at work there. */

import { setTimeout } from 'node:timers/promises'
import { listTree, roomOfFiles } from '../../src/support/list-files.ts'

const EVERY_MS = 5

export interface Watched<T> {
  readonly result: T
  /** The most bytes that were seen in it. */
  readonly mostBytes: number
}

/** @param isCounted whether a file counts, by its absolute path */
export const watchFolder = async <T>(
  folder: string,
  isCounted: (path: string) => boolean,
  work: () => Promise<T>,
): Promise<Watched<T>> => {
  let [mostBytes, ended] = [0, false]
  const look = async (): Promise<void> => {
    const files = (await listTree(folder)).filter(({ kind, path }) => kind === 'file' && isCounted(path))
    const bytes = [...roomOfFiles(files).values()].reduce((sum, one) => sum + one, 0)
    mostBytes = Math.max(mostBytes, bytes)
  }
  const watching = (async () => {
    while (!ended) {
      await look()
      await setTimeout(EVERY_MS)
    }
  })()
  try {
    const result = await work()
    ended = true
    await watching
    return { result, mostBytes }
  } finally {
    ended = true
    await watching
  }
}
