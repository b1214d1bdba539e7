/** A source that is begun while the one before it is loaded: when, how often, and what becomes of it. */

import { expect, test } from 'vitest'
import { EarlySource, type NextSource } from '../../../src/pipeline/run/early-source.ts'
import type { SourceOutcome } from '../../../src/pipeline/run/load-source.ts'

const LOADED: SourceOutcome = { leftOut: 'as if it were loaded' }
const NOT_WANTED: SourceOutcome = { leftOut: 'not wanted' }

/** A source that writes down what becomes of it. */
const watched = (index: number, isWanted: NextSource['isWanted'] = async () => true) => {
  const calls: string[] = []
  const begin = async (turn: Promise<boolean> = Promise.resolve(true)): Promise<SourceOutcome> => {
    calls.push('begin')
    const wanted = await turn
    calls.push(wanted ? 'load' : 'give up')
    return wanted ? LOADED : NOT_WANTED
  }
  return { calls, next: { index, isWanted, begin }, begin: () => begin() }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

/** The first source is being decoded. */
const decodingFirst = async (): Promise<EarlySource> => {
  const early = new EarlySource()
  await early.load(0, watched(0).begin)
  return early
}

test('is begun when the one before is decoded, and goes on when its turn comes', async () => {
  const early = await decodingFirst()
  const { calls, next, begin } = watched(1)
  early.offer(next)
  await turns()
  expect(calls).toEqual([])
  early.decoded()
  await turns()
  expect(calls).toEqual(['begin'])
  expect(await early.load(1, begin)).toBe(LOADED)
  expect(calls).toEqual(['begin', 'load'])
})

test('is begun as soon as it is known, where nothing is being decoded', async () => {
  const early = await decodingFirst()
  early.decoded()
  const { calls, next } = watched(1)
  early.offer(next)
  await turns()
  expect(calls).toEqual(['begin'])
})

test('only one is begun ahead: the one after it waits until that is decoded, too', async () => {
  const early = await decodingFirst()
  early.decoded()
  const [one, two] = [watched(1), watched(2)]
  early.offer(one.next)
  await turns()
  early.offer(two.next)
  await turns()
  expect([one.calls, two.calls]).toEqual([['begin'], []])
  early.decoded()
  await turns()
  expect([one.calls, two.calls]).toEqual([['begin'], []])
  await early.load(1, one.begin)
  await turns()
  expect([one.calls, two.calls]).toEqual([['begin', 'load'], ['begin']])
  await early.stop()
})

test('is not begun where it is not wanted, nor where that cannot be said', async () => {
  for (const isWanted of [async () => false, async () => Promise.reject(new Error('unknown'))]) {
    const early = await decodingFirst()
    early.decoded()
    const { calls, next } = watched(1, isWanted)
    early.offer(next)
    await turns()
    expect(calls).toEqual([])
    const after = watched(2)
    early.offer(after.next)
    await turns()
    expect(after.calls).toEqual(['begin'])
    await early.stop()
  }
})

test('is begun once, though its turn comes while it is asked whether it is wanted', async () => {
  const early = await decodingFirst()
  early.decoded()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { calls, next, begin } = watched(1, () => promise)
  early.offer(next)
  await turns()
  const loaded = early.load(1, begin)
  resolve(true)
  await turns()
  expect(await loaded).toBe(LOADED)
  expect(calls).toEqual(['begin', 'load'])
})

test('is given up where its turn ends and it was not loaded, and where all ends', async () => {
  for (const end of [(early: EarlySource) => early.end(1), (early: EarlySource) => early.stop()]) {
    const early = await decodingFirst()
    early.decoded()
    const { calls, next } = watched(1)
    early.offer(next)
    await turns()
    await end(early)
    expect(calls).toEqual(['begin', 'give up'])
  }
})

test('nothing is begun when all has ended', async () => {
  const early = await decodingFirst()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { calls, next } = watched(1, () => promise)
  early.decoded()
  early.offer(next)
  await early.stop()
  resolve(true)
  await turns()
  expect(calls).toEqual([])
})

test('what it failed with is heard in its turn, and by nobody where it is given up', async () => {
  const fails = async (): Promise<SourceOutcome> => Promise.reject(new Error('damaged'))
  const next: NextSource = { index: 1, isWanted: async () => true, begin: fails }
  const heard = await decodingFirst()
  heard.decoded()
  heard.offer(next)
  await turns()
  await expect(heard.load(1, fails)).rejects.toThrow('damaged')

  const unheard = await decodingFirst()
  unheard.decoded()
  unheard.offer(next)
  await turns()
  await unheard.stop()
})
