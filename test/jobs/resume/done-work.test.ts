/** Runs whose work is done and whose commit was refused: they are committed without their sources. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { inLake, stagingPath } from '../../../src/lake/files/layout.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { filesOf, flipBit } from '../../manifest/damage.ts'
import { companyLine, companyLines, openBench } from '../../run/batch-bench.ts'
import { openPullBench } from '../../service/pull-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { resumeRuns } from './resume-runs.ts'

const ONE_LINE = { kind: 'count', lines: 1 } as const
const REFUSED = { code: 'QUARANTINE_LIMIT' }

const refused = async () => {
  const one = openBench(await temporaryFolder())
  await one.write('a.jsonl', [...companyLines(3), '{bad'])
  const path = join(one.folder, 'a.jsonl')
  await expect(convert({ from: path, lake: one.lake, maxQuarantined: 0 })).rejects.toMatchObject(REFUSED)
  return { ...one, path }
}

test('resume commits what was loaded, though the files are gone', async () => {
  const { lake, path, query } = await refused()
  await rm(path)
  expect(await resumeRuns({ lake, maxQuarantined: ONE_LINE })).toMatchObject([
    { kind: 'loaded', report: { records: 3, quarantined: 1, sources: 1 } },
  ])
  expect(await query('SELECT list(internal_id ORDER BY 1) FROM companies')).toEqual([[[1, 2, 3]]])
  expect(await query('SELECT line FROM quarantine')).toEqual([[4]])
})

test('resume loads a file that was mended since, and not what was loaded of it before', async () => {
  const { lake, path, query } = await refused()
  const { write } = openBench(join(path, '..'))
  await write('a.jsonl', companyLines(5))
  expect(await resumeRuns({ lake, maxQuarantined: ONE_LINE })).toMatchObject([
    { kind: 'loaded', report: { records: 5, quarantined: 0 } },
  ])
  expect(await query('SELECT count(*) FROM companies')).toEqual([[5]])
})

test('resume loads the files again where what was loaded of them is damaged', async () => {
  const { lake, path, query } = await refused()
  const [run = ''] = await listRunIds(lake)
  const staging = inLake(lake, stagingPath(run))
  const [file = ''] = (await filesOf(staging)).filter((one) => one.startsWith('companies/'))
  await flipBit(join(staging, file), 100, 0)
  await rm(path)
  expect(await resumeRuns({ lake, maxQuarantined: ONE_LINE })).toMatchObject([
    { kind: 'failed', error: { code: 'SOURCE_NOT_FOUND' } },
  ])
  const { write } = openBench(join(path, '..'))
  await write('a.jsonl', [...companyLines(3), '{bad'])
  expect(await resumeRuns({ lake, run, maxQuarantined: ONE_LINE })).toMatchObject([{ kind: 'loaded' }])
  expect(await query('SELECT count(*) FROM companies')).toEqual([[3]])
})

test('resume commits records of a program without the program', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const bad = { BasicDetails: { InternalId: 8, CompanyName: 8 } }
  const from = fromRecords('crm', [JSON.parse(companyLine(7)), bad])
  await expect(convert({ from, content: 'companies', lake, maxQuarantined: 0 })).rejects.toMatchObject(
    REFUSED,
  )
  expect(await resumeRuns({ lake, maxQuarantined: ONE_LINE })).toMatchObject([
    { kind: 'loaded', report: { records: 1, quarantined: 1 } },
  ])
})

test('resume commits a pull without its service, and the pull is recorded', async () => {
  const one = await openPullBench({
    companies: [
      { id: 1, country: 'SE' },
      { id: 2, country: 'SE', name: '\ud800' },
    ],
  })
  await expect(one.pull()).rejects.toMatchObject(REFUSED)
  const service = (): never => {
    throw new Error('the service is gone')
  }
  expect(await resumeRuns({ lake: one.lake, maxQuarantined: ONE_LINE, service })).toMatchObject([
    { kind: 'loaded', report: { records: 1, quarantined: 1 } },
  ])
  expect((await one.snapshot()).pulls).toMatchObject([{ announced: 2, received: 2 }])
})
