import { type FileHandle, open } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { YearFigures } from './year-figures.ts'

const NIGHTS = 90
const KILOBYTE = 1024

/** What each night does. @returns what was found to grow */
const playNights = async (night: () => Promise<unknown>): Promise<string> => {
  const folder = await temporaryFolder()
  const figures = new YearFigures()
  for (let at = 1; at <= NIGHTS; at += 1) {
    await figures.measure(folder, night)
    if (at % 7 === 0) await figures.measureMemory()
  }
  return figures.grown().join('\n')
}

test('nights that lose nothing have nothing grown', async () => {
  let last: Buffer[] = []
  const night = async (): Promise<void> => {
    last = [Buffer.alloc(1000 * KILOBYTE, last.length)]
  }
  expect(await playNights(night)).toBe('')
})

test('objects and buffers that each night leaves behind are found', async () => {
  const [objects, buffers]: [object[], Buffer[]] = [[], []]
  const night = async (): Promise<void> => {
    objects.push(Array.from({ length: 10_000 }, (_, at) => ({ at })))
    buffers.push(Buffer.alloc(5000 * KILOBYTE, 1))
  }
  expect(await playNights(night)).toMatch(/kept MB grew.*heap MB grew.*external MB grew/s)
})

test('an engine and a file that each night leaves open are found', async () => {
  const engines: Engine[] = []
  const files: FileHandle[] = []
  const night = async (): Promise<void> => {
    const engine = await Engine.open({ memoryBytes: 64 * KILOBYTE ** 2, threads: 1 })
    await (await engine.connect()).rows('CREATE TABLE t AS SELECT hash(i) AS h FROM range(600_000) r(i)')
    engines.push(engine)
    files.push(await open('/dev/null'))
  }
  try {
    expect(await playNights(night)).toMatch(/kept MB grew.*handles grew/s)
  } finally {
    for (const engine of engines) engine.close()
    for (const file of files) await file.close()
  }
})
