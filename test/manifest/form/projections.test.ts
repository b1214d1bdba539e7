import { expect, test } from 'vitest'
import { columnsBySnapshot } from '../../../src/manifest/form/projections.ts'

const declared = (snapshot: number, compute?: Readonly<Record<string, string>>) => ({
  run: `run-${snapshot}`,
  snapshot,
  take: compute === undefined ? {} : { compute },
})
const A = { 'companies.a': 'upper(company_name)' }
const B = { 'companies.b': 'lower(company_name)' }

/** `[since, names of the columns]` */
const stepsOf = async (taken: readonly ReturnType<typeof declared>[], first: number): Promise<unknown[]> =>
  (await columnsBySnapshot({ taken }, first)).map(({ since, computed }) => [
    since,
    ...computed.map(({ column }) => column),
  ])

test('columnsBySnapshot has a step where the columns change, of those that snapshots show', async () => {
  const taken = [declared(3, A), declared(5, A), declared(7, B), declared(9)]
  expect(await stepsOf(taken, 1)).toEqual([[1], [3, 'a'], [7, 'b'], [9]])
  expect(await stepsOf(taken, 4)).toEqual([[3, 'a'], [7, 'b'], [9]])
  expect(await stepsOf(taken, 8)).toEqual([[7, 'b'], [9]])
  expect(await stepsOf(taken, 9)).toEqual([[9]])
  expect(await stepsOf([], 4)).toEqual([[1]])
  expect(await stepsOf([declared(1, A)], 1)).toEqual([[1, 'a']])
})

test('columnsBySnapshot leaves out what this release cannot run of older snapshots, and refuses it of the newest', async () => {
  const gone = { 'companies.x': 'no_such_function(company_name)' }
  const same = { 'companies.email': 'upper(company_name)' }
  expect(await stepsOf([declared(2, gone), declared(4, A), declared(6, same), declared(8, B)], 1)).toEqual([
    [1],
    [4, 'a'],
    [6],
    [8, 'b'],
  ])
  await expect(columnsBySnapshot({ taken: [declared(2, A), declared(3, gone)] }, 1)).rejects.toMatchObject({
    code: 'PROJECTION_INVALID',
  })
})
