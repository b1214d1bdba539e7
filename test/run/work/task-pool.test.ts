import { expect, test } from 'vitest'
import { TaskPool } from '../../../src/run/work/task-pool.ts'

test('TaskPool works on as many jobs as it may, also where nobody waits for room', async () => {
  const pool = new TaskPool(2, () => undefined)
  let working = 0
  let most = 0
  const job = async (): Promise<void> => {
    most = Math.max(most, ++working)
    await new Promise((resolve) => setImmediate(resolve))
    working -= 1
  }
  const jobs = Array.from({ length: 6 }, () => pool.start(job))
  let after = 0
  pool.afterSuccess(jobs, async () => void after++)
  await pool.waitForSlot()
  expect(working).toBeLessThan(2)
  await pool.waitForSuccess()
  expect([most, after, await Promise.all(jobs)]).toEqual([2, 1, Array(6).fill(true)])
})

test('TaskPool stops with the first failure, and lets what is under way end', async () => {
  const pool = new TaskPool(2, () => undefined)
  let ended = false
  const failing = pool.start(async () => {
    throw new Error('the disk is full')
  })
  pool.start(async () => {
    await new Promise((resolve) => setImmediate(resolve))
    ended = true
  })
  let after = 0
  pool.afterSuccess([failing], async () => void after++)
  await expect(pool.waitForSuccess()).rejects.toThrow('the disk is full')
  await expect(pool.waitForSlot()).rejects.toThrow('the disk is full')
  expect([ended, after, await failing]).toEqual([true, 0, false])
})
