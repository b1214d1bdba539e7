/** Lakes of small runs for the tests of a file, each made once and copied. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { loadSmallRun } from './sample-lake.ts'

/**
 * @returns makes a lake of so many small runs below a folder, as `smallLake` of `sample-lake.ts` does, from a copy. Two
 * of them are the same lake in two places.
 */
export const useSmallLakes = (): ((folder: string, runs: number) => Promise<string>) => {
  const made = new Map<number, Promise<string>>()
  const make = async (runs: number): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-small-'))
    if (runs > 1) await cp(await once(runs - 1), folder, { recursive: true })
    await loadSmallRun(folder, runs)
    return folder
  }
  const once = (runs: number): Promise<string> => {
    const found = made.get(runs) ?? make(runs)
    made.set(runs, found)
    return found
  }
  afterAll(async () => {
    for (const folder of made.values()) await rm(await folder, { recursive: true, force: true })
  })
  return async (folder, runs) => {
    await cp(await once(runs), folder, { recursive: true })
    return join(folder, 'lake')
  }
}

/**
 * @returns gives a lake of so many small runs as `publish` has left it, in the place where that was: tables may say where they
 * stand. What the test before has done to it is gone.
 */
export const usePublishedLakes = (
  smallLake: ReturnType<typeof useSmallLakes>,
  publish: (lake: string) => Promise<unknown>,
): ((runs: number) => Promise<string>) => {
  const made = new Map<number, Promise<string>>()
  const make = async (runs: number): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-published-'))
    await publish(await smallLake(join(folder, 'now'), runs))
    await cp(join(folder, 'now'), join(folder, 'kept'), { recursive: true })
    return folder
  }
  afterAll(async () => {
    for (const folder of made.values()) await rm(await folder, { recursive: true, force: true })
  })
  return async (runs) => {
    const known = made.get(runs) ?? make(runs)
    made.set(runs, known)
    const [now, kept] = [join(await known, 'now'), join(await known, 'kept')]
    await rm(now, { recursive: true })
    await cp(kept, now, { recursive: true })
    return join(now, 'lake')
  }
}
