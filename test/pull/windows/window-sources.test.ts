import { readdir, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import {
  type Checkpoint,
  NOTHING,
  readCheckpoint,
  WindowFile,
} from '../../../src/pull/windows/window-file.ts'
import { openWindowSources, type RunWindow, windowPath } from '../../../src/pull/windows/window-sources.ts'
import { flipBit } from '../../manifest/damage.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const windows = (count: number, growing = false): RunWindow[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `window ${at}`,
    search: { CountryCode: ['SE'] },
    requested: null,
    growing: growing && at === count - 1,
  }))

const checkpoint = (bytes: number): Checkpoint => ({
  ...{ ...NOTHING, before: NOTHING, chains: [], chain: 0, cursor: '*', lastId: null, lastIds: null },
  ...{ restarts: 0, asOf: null, lastAsOf: null, bytes, records: 1, announced: 1, pages: 1, sha256: '00' },
})

/** Lets everything happen that waits for nothing but the event loop and the disk. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('openWindowSources pulls ahead, with a bounded number of files on the disk', async () => {
  const folder = await temporaryFolder()
  const begun: number[] = []
  const { sources } = await openWindowSources(windows(10), {
    ...{ folder, content: 'companies', service: 'http://127.0.0.1', concurrency: 2, ahead: 1 },
    pull: async (index, path) => {
      begun.push(index)
      await writeFile(path, '{}\n')
      return checkpoint(3)
    },
  })
  expect(begun).toEqual([])
  for (const [index, source] of sources.entries()) {
    expect(await source.fingerprint?.()).toEqual({ bytes: 3, sha256: '00' })
    await settle()
    expect(begun.length).toBe(Math.min(10, index + 3))
    expect((await readdir(folder)).length).toBeLessThanOrEqual(3)
    expect(source.details?.()).toMatchObject({ window: { announced: 1, received: 1, pages: 1 } })
    await source.release?.()
    await settle()
  }
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(await readdir(folder)).toEqual([])
})

test('openWindowSources begins a window that grows when those before it are done', async () => {
  const folder = await temporaryFolder()
  const waiting = new Map<number, () => void>()
  const { sources } = await openWindowSources(windows(3, true), {
    ...{ folder, content: 'companies', service: 'http://127.0.0.1', concurrency: 4 },
    pull: (index) =>
      new Promise((resolve) => {
        waiting.set(index, () => resolve(checkpoint(0)))
      }),
  })
  const first = sources[0]?.fingerprint?.()
  await settle()
  expect([...waiting.keys()]).toEqual([0, 1])
  waiting.get(0)?.()
  await first
  await settle()
  expect([...waiting.keys()]).toEqual([0, 1])
  waiting.get(1)?.()
  await settle()
  expect([...waiting.keys()]).toEqual([0, 1, 2])
})

test('openWindowSources keeps a failure ahead for whoever asks for the window, and begins no other', async () => {
  const folder = await temporaryFolder()
  const begun: number[] = []
  const { sources } = await openWindowSources(windows(5), {
    ...{ folder, content: 'companies', service: 'http://127.0.0.1', concurrency: 2 },
    pull: async (index) => {
      begun.push(index)
      if (index === 1) throw new RangeError('window 1')
      return checkpoint(0)
    },
  })
  await sources[0]?.fingerprint?.()
  await settle()
  await expect(sources[1]?.fingerprint?.()).rejects.toThrow('window 1')
  expect(begun).toEqual([0, 1])
})

test('openWindowSources stops what is being pulled when the one who asks gives up', async () => {
  const folder = await temporaryFolder()
  const stopped: number[] = []
  const { sources, stop } = await openWindowSources(windows(3), {
    ...{ folder, content: 'companies', service: 'http://127.0.0.1', concurrency: 2 },
    pull: (index, _, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped.push(index)
          reject(signal.reason)
        })
      }),
  })
  const giveUp = new AbortController()
  const asked = sources[0]?.fingerprint?.(giveUp.signal)
  await settle()
  giveUp.abort()
  await expect(asked).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(stopped.sort()).toEqual([0, 1])
  await stop()
})

test('openWindowSources stops all that is pulled ahead with any of its sources, and waits for it', async () => {
  const folder = await temporaryFolder()
  const stopped: number[] = []
  const { sources } = await openWindowSources(windows(4), {
    ...{ folder, content: 'companies', service: 'http://127.0.0.1', concurrency: 3 },
    pull: async (index, _, signal) => {
      if (index === 0) return checkpoint(0)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await settle()
      stopped.push(index)
      throw signal.reason
    },
  })
  await sources[0]?.fingerprint?.()
  await settle()
  await sources[0]?.stop?.()
  expect(stopped).toEqual([1, 2, 3])
})

test('openWindowSources pulls again a window of an earlier process whose file is damaged or gone', async () => {
  const folder = await temporaryFolder()
  const text = '{"a":1}\n'
  const options = { folder, content: 'companies', service: 'http://127.0.0.1', concurrency: 1 } as const
  const pulled: number[] = []
  const pull = async (index: number, path: string): Promise<Checkpoint> => {
    const known = await readCheckpoint(path)
    if (known?.sha256 !== undefined) return known
    pulled.push(index)
    const { sha256: _, ...begun } = checkpoint(0)
    const spool = await WindowFile.open(path, 0)
    await spool.append(Buffer.from(text), new BigInt64Array(), { ...begun, bytes: text.length })
    const whole = await spool.finish({ ...begun, bytes: text.length })
    await spool.close()
    return whole
  }
  for (const at of [0, 1, 2]) await pull(at, windowPath(folder, at))
  await flipBit(windowPath(folder, 1), 2, 0)
  await rm(windowPath(folder, 2))
  const { sources } = await openWindowSources(windows(3), { ...options, pull })
  for (const source of sources) await source.fingerprint?.()
  expect(pulled).toEqual([0, 1, 2, 1, 2])
})
