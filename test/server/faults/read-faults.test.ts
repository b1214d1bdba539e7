import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAULT_NAMES } from '../../../src/server/faults/fault-kinds.ts'
import { readFaults } from '../../../src/server/faults/read-faults.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const fileOf = async (document: unknown): Promise<string> => {
  const path = join(await temporaryFolder(), 'faults.json')
  await writeFile(path, JSON.stringify(document))
  return path
}
const read = async (...faults: readonly unknown[]) => readFaults(await fileOf({ faults }))

test('readFaults reads every kind, and rules with their selections', async () => {
  for (const fault of FAULT_NAMES) {
    const on = fault === 'changedETag' ? 'batchFile' : 'companies'
    expect(await read({ on, fault })).toEqual([{ on, fault, selection: { kind: 'from', first: 1 } }])
  }
  expect(
    await read(
      { on: 'relations', fault: '429', at: [2, 5], retryAfter: 3 },
      { on: 'batchFile', fault: 'drip', every: 4, bytesPerSecond: 10.5 },
      { on: 'batchFiles', fault: 'redirect', from: 7, times: 1, location: 'https://other.example/' },
    ),
  ).toEqual([
    { on: 'relations', fault: '429', selection: { kind: 'at', numbers: [2, 5] }, retryAfter: '3' },
    { on: 'batchFile', fault: 'drip', selection: { kind: 'every', step: 4 }, bytesPerSecond: 10.5 },
    {
      on: 'batchFiles',
      fault: 'redirect',
      selection: { kind: 'from', first: 7 },
      times: 1,
      location: 'https://other.example/',
    },
  ])
})

test.each([
  ['an unknown kind', { on: 'companies', fault: '418' }, 'faults[1].fault: expected one of "429"'],
  ['an unknown operation', { on: 'people', fault: '500' }, 'faults[1].on: expected one of'],
  ['two selections', { on: 'companies', fault: '500', at: [1], from: 2 }, 'faults[1]: expected only one of'],
  [
    'a number below 1',
    { on: 'companies', fault: '500', at: [1, 0] },
    'faults[1].at[1]: expected a whole number',
  ],
  ['no numbers', { on: 'companies', fault: '500', at: [] }, 'faults[1].at: expected a list'],
  [
    'an unknown field',
    { on: 'companies', fault: '500', after: 1 },
    'faults[1], field 3: expected one of on,',
  ],
  [
    'a field of others',
    { on: 'companies', fault: '500', retryAfter: 1 },
    'faults[1].retryAfter: expected no such',
  ],
  ['a header over two lines', { on: 'companies', fault: '429', retryAfter: 'a\nb' }, 'faults[1].retryAfter'],
  [
    'pages of files',
    { on: 'batchFile', fault: 'duplicatePage' },
    'faults[1].on: expected companies or relations',
  ],
  ['an ETag of pages', { on: 'companies', fault: 'changedETag' }, 'faults[1].on: expected batchFile'],
])('readFaults refuses %s and names the place', async (_what, rule, problem) => {
  await expect(read({ on: 'companies', fault: '500' }, rule)).rejects.toMatchObject({
    code: 'FAULTS_UNREADABLE',
    message: expect.stringContaining(problem),
  })
})

test('readFaults refuses a document of another form', async () => {
  await expect(readFaults(await fileOf([]))).rejects.toMatchObject({ code: 'FAULTS_UNREADABLE' })
  await expect(readFaults(await fileOf({ faults: [], more: 1 }))).rejects.toMatchObject({
    code: 'FAULTS_UNREADABLE',
  })
})
