import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkOrder, checkUnits } from '../../src/engine/temporal/activities.ts'
import { type RunOrder, UNITS_OF_SHARD } from '../../src/engine/temporal/requests.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ORDER: RunOrder = {
  ...{
    run: '20261121T094500123Z-1f9a2c',
    lake: '/data/lake',
    phases: [{ first: 0, count: 1 }] as RunOrder['phases'],
  },
  ...{
    memoryBytes: 1,
    unitsAtOnce: 1,
    maxWaitMs: 1,
    maxQuarantined: '1%',
    maxGone: '2%',
    changeCurrency: false,
    commits: true,
    heartbeatMs: 1,
  },
}

test('checkOrder takes an order as a command makes it', async () => {
  await checkOrder(ORDER, undefined)
  for (const lake of ['s3://bucket/lake', '/data/--help', '/data/a b'])
    await checkOrder({ ...ORDER, lake }, undefined)
  for (const maxQuarantined of ['0', '0.5%', '100']) await checkOrder({ ...ORDER, maxQuarantined }, undefined)
})

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['a run that is an option', { run: '--lake=/other' }],
  ['a run that is a path', { run: '../20261121T094500123Z-1f9a2c' }],
  ['a lake that is an option', { lake: '--lake' }],
  ['a lake below the worker', { lake: 'lake' }],
  ['a lake with a NUL byte', { lake: '/data\0/lake' }],
  ['a list of lakes', { lake: ['/data/lake', '--token-file=/etc/passwd'] }],
  ['memory that is a text', { memoryBytes: '1 --lake=/other' }],
  ['memory below 0', { memoryBytes: -1 }],
  ['a limit that is an option', { maxQuarantined: '--again' }],
  ['a limit of companies that is an option', { maxGone: '--again' }],
  ['no phases', { phases: undefined }],
])('checkOrder refuses %s', async (_what, change) => {
  const order = { ...ORDER, ...change } as RunOrder
  await expect(checkOrder(order, undefined)).rejects.toMatchObject({ code: 'USAGE' })
})

test('checkOrder refuses a lake outside the places of the worker', async () => {
  const lake = await temporaryFolder()
  await checkOrder({ ...ORDER, lake }, [lake])
  await expect(checkOrder({ ...ORDER, lake }, [join(lake, 'other')])).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('in none of the places that --lakes names'),
  })
})

test('checkUnits takes numbers of units alone', () => {
  checkUnits(0, 12)
  for (const unit of [-1, 1.5, Number.NaN, '1 --again'])
    expect(() => checkUnits(unit as number)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

test('checkUnits takes a range of no more units than a workflow asks for at once', () => {
  checkUnits(1000, 1000 + UNITS_OF_SHARD)
  for (const to of [UNITS_OF_SHARD + 1, Number.MAX_SAFE_INTEGER])
    expect(() => checkUnits(0, to)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})
