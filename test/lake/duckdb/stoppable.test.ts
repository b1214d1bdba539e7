import { expect, onTestFinished, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { interruptOn, stoppable } from '../../../src/lake/duckdb/stoppable.ts'

const session = async (): Promise<Session> => {
  const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  return engine.connect()
}

const ENDLESS = 'SELECT sum(hash(i)) FROM range(1000000000000) AS t (i)'

test('stoppable ends the statement that is running, and the session goes on', async () => {
  const one = await session()
  const controller = new AbortController()
  const work = stoppable(one, controller.signal, () => one.run(ENDLESS))
  controller.abort()
  await expect(work).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(await one.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('stoppable ends work whose signal comes between two statements', async () => {
  const one = await session()
  const controller = new AbortController()
  const work = stoppable(one, controller.signal, async () => {
    await one.run('SELECT 1')
    controller.abort()
    await one.run(ENDLESS)
  })
  await expect(work).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('stoppable hands on the errors of work that nobody stopped', async () => {
  const one = await session()
  const failing = stoppable(one, new AbortController().signal, () => one.run('SELECT nothing'))
  await expect(failing).rejects.toThrow('nothing')
})

test('interruptOn stops statements that begin after the signal, until the work has ended', async () => {
  const one = await session()
  const workEnded = interruptOn(one, AbortSignal.abort())
  await expect(one.run(ENDLESS)).rejects.toThrow('Interrupted')
  await expect(one.run(ENDLESS)).rejects.toThrow('Interrupted')
  workEnded()
  expect(await one.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
})
