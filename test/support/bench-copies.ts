/** Benches of one content: it is made once a file of tests, and each test changes a copy. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Bench, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** @param plant fills the one that is copied, once the first test asks for it */
export const benchCopies = (plant: (bench: Bench) => Promise<unknown>): (() => Promise<Bench>) => {
  const make = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-bench-'))
    await plant(openBench(folder))
    return folder
  }
  let made: Promise<string> | undefined
  afterAll(async () => {
    if (made) await rm(await made, { recursive: true })
  })
  return async () => {
    made ??= make()
    const folder = await temporaryFolder()
    await cp(await made, folder, { recursive: true, preserveTimestamps: true })
    return openBench(folder)
  }
}
