import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { queryLake, verify } from '../run/batch-bench.ts'
import { LAKE, s3Bench } from '../storage/s3-bench.ts'
import { openPullBench } from './pull-bench.ts'

test('in a bucket a pull marks too, and what it marked is not shown', async (context) => {
  await s3Bench(context)
  const all = Array.from({ length: 100 }, (_, at) => ({ id: at + 1, country: 'SE' }))
  const one = await openPullBench({ companies: all })
  const pull = () => one.pull({}, { lake: LAKE })
  await pull()
  one.fake.hold(all.filter(({ id }) => id !== 7 && id !== 50))
  expect((await pull()).summary.gone).toMatchObject([{ marked: 2 }])
  const counts = async () =>
    queryLake(LAKE, 'SELECT (SELECT count(*) FROM companies), (SELECT count(*) FROM companies_all)')
  expect(await counts()).toEqual([[98, 100]])
  await compact({ lake: LAKE })
  expect(await counts()).toEqual([[98, 100]])
  expect((await verify(LAKE)).problems).toEqual([])
})
