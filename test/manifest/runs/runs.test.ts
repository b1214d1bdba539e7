import { randomBytes } from 'node:crypto'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import { inLake, RUNS_FOLDER, runPath } from '../../../src/lake/files/layout.ts'
import { journalPath } from '../../../src/manifest/runs/journal.ts'
import { assertOwner, leaseRun, releaseRun } from '../../../src/manifest/runs/run-lease.ts'
import { createRun, listRuns, readPlan, removeRun } from '../../../src/manifest/runs/runs.ts'
import { listTree } from '../../../src/support/list-files.ts'
import { thisProcess } from '../../../src/support/process-identity.ts'
import { startChild } from '../../support/children.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { commitStaged, DEAD, deadRun, NOW, releasedRun, stageRun } from '../small-lake.ts'

const LEASES = new URL('child-leases.ts', import.meta.url)
const HOUR_MS = 3_600_000

test('createRun makes the lake and a folder that has its owner and plan from the first', async () => {
  const lake = join(await temporaryFolder(), 'new', 'lake')
  const lease = await createRun({ lake, plan: { command: 'convert' }, now: NOW, random: randomBytes })
  expect(lease).toMatchObject({
    lake,
    number: 1,
    base: 0,
    run: expect.stringMatching(/^20261121T094500000Z-/),
  })
  expect(await readPlan(lake, lease.run)).toEqual({ command: 'convert' })
  expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([lease.run])
  expect((await readdir(inLake(lake, runPath(lease.run)))).sort()).toEqual([
    'journal.jsonl',
    'owner-1.json',
    'plan.json',
    'staging',
  ])
  await assertOwner(lease)
})

test('createRun refuses an id that is taken and leaves the run there alone', async () => {
  const lake = await temporaryFolder()
  const random = () => Uint8Array.of(1, 2, 3)
  const lease = await createRun({ lake, plan: { at: 1 }, now: NOW, random })
  await expect(createRun({ lake, plan: { at: 2 }, now: NOW, random })).rejects.toMatchObject({
    code: 'WRITE_FAILED',
  })
  expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([lease.run])
  expect(await readPlan(lake, lease.run)).toEqual({ at: 1 })
})

test('readPlan throws RUN_NOT_FOUND without a plan and RUN_NOT_RESUMABLE for a damaged one', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, [])
  await writeFile(inLake(lake, `${runPath(lease.run)}/plan.json`), '{')
  await expect(readPlan(lake, lease.run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  await expect(readPlan(lake, 'none')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('listRuns tells state, progress and commit of each run', async () => {
  const lake = await temporaryFolder()
  const live = await stageRun(lake, ['a', 'b'])
  const dead = await deadRun(lake, ['c'])
  const done = await deadRun(lake, ['d'])
  await commitStaged(done)
  const released = await releasedRun(lake, [])
  const host = thisProcess().host
  const runs = await listRuns(lake, { now: NOW })
  const byRun = new Map(runs.map(({ run, ...rest }) => [run, rest]))
  const gone = { state: 'gone', process: { host, pid: DEAD.pid } }
  expect(byRun.get(live.lease.run)).toEqual({
    state: 'live',
    process: { host, pid: process.pid },
    committed: null,
    partitions: 2,
  })
  expect(byRun.get(dead.lease.run)).toEqual({ ...gone, committed: null, partitions: 1 })
  expect(byRun.get(done.lease.run)).toEqual({ ...gone, committed: 1, partitions: 1 })
  expect(byRun.get(released.lease.run)).toEqual({ state: 'gone', committed: null, partitions: 0 })
  await expect(listRuns(await temporaryFolder(), { now: NOW })).rejects.toMatchObject({
    code: 'LAKE_NOT_FOUND',
  })
})

test('listRuns reports why a run was given up until it is taken over again, and whether it would fail again', async () => {
  const lake = await temporaryFolder()
  const busy = await stageRun(lake, ['a'])
  const bad = await stageRun(lake, ['b'])
  const stopped = await stageRun(lake, ['c'])
  await releaseRun(busy.lease, new ToolkitError('SERVICE_BUSY', 'Cannot pull: wait'))
  await releaseRun(bad.lease, new ToolkitError('DECODE_DAMAGED', 'Cannot decode "x"'))
  await releaseRun(stopped.lease, new ToolkitError('INTERRUPTED', 'Interrupted'))
  const failures = async (): Promise<ReadonlyMap<string, unknown>> =>
    new Map((await listRuns(lake, { now: NOW })).map(({ run, failure }) => [run, failure]))
  const before = await failures()
  expect(before.get(busy.lease.run)).toEqual({
    ...{ code: 'SERVICE_BUSY', message: 'Cannot pull: wait', final: false },
  })
  expect(before.get(bad.lease.run)).toEqual({
    ...{ code: 'DECODE_DAMAGED', message: 'Cannot decode "x"', final: true },
  })
  expect(before.get(stopped.lease.run)).toBeUndefined()
  await releaseRun(await leaseRun(lake, bad.lease.run, { now: NOW }))
  expect((await failures()).get(bad.lease.run)).toBeUndefined()
})

test('listRuns says of a run with a damaged journal that gc is the way out', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a', 'b'])
  await writeFile(inLake(lake, journalPath(lease.run)), '{"damaged\n{}\n{}\n')
  await releaseRun(lease)
  const [run] = await listRuns(lake, { now: NOW })
  expect(run?.failure).toMatchObject({ code: 'RUN_NOT_RESUMABLE', final: true })
  expect(run?.failure?.message).toContain('line 1 is damaged; "firmlake gc" removes the run')
})

test('leaseRun refuses a live run and one that is not there', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, [])
  await expect(leaseRun(lake, lease.run, { now: NOW })).rejects.toMatchObject({ code: 'RUN_LIVE' })
  await expect(leaseRun(lake, 'none', { now: NOW })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})

test('leaseRun takes over a dead run, and its old owner can go on no more', async () => {
  const lake = await temporaryFolder()
  const { lease } = await deadRun(lake, [])
  const own = await leaseRun(lake, lease.run, { now: NOW })
  expect(own).toEqual({ ...lease, number: 2 })
  await assertOwner(own)
  await expect(assertOwner(lease)).rejects.toMatchObject({ code: 'RUN_LIVE' })
  await expect(removeRun(lease)).rejects.toMatchObject({ code: 'RUN_LIVE' })
})

test('leaseRun goes by the start of a process, so a reused pid is no owner', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, [], { ...thisProcess(), started: '1' })
  expect(await leaseRun(lake, lease.run, { now: NOW })).toMatchObject({ number: 2 })
})

test('leaseRun lets exactly one of many takers win', async () => {
  const lake = await temporaryFolder()
  const { lease } = await deadRun(lake, [])
  const takers = Array.from({ length: 20 }, () => leaseRun(lake, lease.run, { now: NOW }))
  const outcomes = await Promise.allSettled(takers)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const one of outcomes) if (one.status === 'rejected') expect(one.reason.code).toBe('RUN_LIVE')
})

test('leaseRun lets exactly one of several processes win', async () => {
  const lake = await temporaryFolder()
  const { lease } = await deadRun(lake, [])
  const children = Array.from({ length: 4 }, () => startChild(LEASES, lake, lease.run))
  const lines = await Promise.all(children.map((child) => child.nextLine()))
  expect(lines.sort()).toEqual(['RUN_LIVE', 'RUN_LIVE', 'RUN_LIVE', 'mine'])
})

test('leaseRun takes a released run at once, also in the same process', async () => {
  const lake = await temporaryFolder()
  const { lease } = await releasedRun(lake, ['a'])
  const own = await leaseRun(lake, lease.run, { now: NOW })
  expect(own.number).toBe(3)
  await releaseRun(lease)
  await assertOwner(own)
})

test('leaseRun leaves a run of another host alone until a day without a touch', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a'], { ...thisProcess(), host: 'elsewhere' })
  const at = (hours: number) => ({ now: new Date(Date.now() + hours * HOUR_MS) })
  await expect(leaseRun(lake, lease.run, at(23))).rejects.toMatchObject({ code: 'RUN_LIVE' })
  expect(await listRuns(lake, at(23))).toMatchObject([{ state: 'unknown' }])
  await expect(leaseRun(lake, lease.run, { ...at(25), remoteIdleMs: 26 * HOUR_MS })).rejects.toThrow()
  expect(await leaseRun(lake, lease.run, at(25))).toMatchObject({ number: 2 })
})

test('leaseRun leaves a run of another boot alone until half an hour without a heartbeat', async () => {
  const lake = await temporaryFolder()
  // Its pid is nobody's here, and a machine that was started again has another boot, too.
  const { lease } = await stageRun(lake, ['a'], { ...DEAD, boot: 'another one' })
  const at = (minutes: number) => ({ now: new Date(Date.now() + minutes * 60_000) })
  await expect(leaseRun(lake, lease.run, at(29))).rejects.toMatchObject({
    code: 'RUN_LIVE',
    message: expect.stringContaining('cannot be seen from here'),
  })
  const owner = inLake(lake, `${runPath(lease.run)}/owner-1.json`)
  await utimes(owner, at(20).now, at(20).now)
  expect(await listRuns(lake, at(49))).toMatchObject([{ state: 'unknown' }])
  expect(await leaseRun(lake, lease.run, at(51))).toMatchObject({ number: 2 })
})

test('leaseRun counts a touch of any file in the folder of a run of another host', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a'], { ...thisProcess(), host: 'elsewhere' })
  const later = new Date(Date.now() + 20 * HOUR_MS)
  const staged = (await listTree(inLake(lake, runPath(lease.run)))).at(-1)
  await utimes(staged?.path ?? '', later, later)
  const now = new Date(Date.now() + 25 * HOUR_MS)
  await expect(leaseRun(lake, lease.run, { now })).rejects.toMatchObject({ code: 'RUN_LIVE' })
})

test('leaseRun takes a damaged owner for one that may be at work', async () => {
  const lake = await temporaryFolder()
  const { lease } = await deadRun(lake, [])
  await writeFile(inLake(lake, `${runPath(lease.run)}/owner-1.json`), '{"base":0,"process":{"pid":')
  await expect(leaseRun(lake, lease.run, { now: new Date() })).rejects.toMatchObject({ code: 'RUN_LIVE' })
})

test('removeRun can be called again', async () => {
  const lake = await temporaryFolder()
  const { lease } = await stageRun(lake, ['a'])
  await removeRun(lease)
  await removeRun(lease)
  expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([])
})

test('readPlan takes no changed bit of a plan for one, nor a plan without its seal', async () => {
  const lake = await temporaryFolder()
  const plan = { pipeline: 'convert', limits: { maxLineBytes: 1024 } }
  const { run } = await createRun({ lake, plan, now: NOW, random: randomBytes })
  const path = inLake(lake, `${runPath(run)}/plan.json`)
  const whole = await readFile(path)
  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 1
    await writeFile(path, changed)
    await expect(readPlan(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
  }
  await writeFile(path, `${JSON.stringify(plan, null, 2)}\n`)
  await expect(readPlan(lake, run)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' })
})
