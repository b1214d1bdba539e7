import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installLine } from '../../../src/core/optional-parts.ts'
import { doctor } from '../../../src/jobs/doctor.ts'
import { openEarlier } from '../../pipeline/upgrade/earlier-lake.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('doctor finds what the core needs, names variables without their values, and leaves nothing behind', async () => {
  const folder = await temporaryFolder()
  const env = { FIRMLAKE_WORK_DIR: folder, FIRMLAKE_TOKEN: 'secret-4711', PGPASSWORD: '' }
  const found = await doctor({ env })
  expect(found.well).toBe(true)
  expect(found.variables).toEqual(['FIRMLAKE_TOKEN'])
  expect(JSON.stringify(found)).not.toContain('secret-4711')
  expect(found.findings.find(({ about }) => about === 'node')?.says).toBe(`Node ${process.versions.node}`)
  expect(found.findings.find(({ about }) => about === 'duckdb')?.says).toMatch(/^DuckDB v\d/)
  expect(found.disks.find((disk) => disk.folder === folder)).toMatchObject({ lacks: [] })
  expect(await readdir(folder)).toEqual([])
  for (const { about, mend } of found.findings)
    if (about === 's3' && mend !== undefined) expect(mend).toBe(installLine('s3'))
})

test('doctor says the format of a lake, and of what is no lake why', async () => {
  const { lake, folder } = await openEarlier('1-first')
  const { well, findings } = await doctor({ lake })
  expect(well).toBe(true)
  expect(findings.find(({ about }) => about === 'lake')).toEqual({
    ...{ about: 'lake', state: 'well', says: 'snapshot 3 in format 1' },
    mend: `firmlake upgrade --lake ${lake}`,
  })
  const none = await doctor({ lake: join(folder, 'none') })
  expect(none.well).toBe(false)
  expect(none.findings.at(-1)).toMatchObject({
    state: 'missing',
    says: expect.stringContaining('LAKE_NOT_FOUND'),
  })
})

test('doctor names a folder that nothing can be written in', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'file'), '')
  await mkdir(join(folder, 'fine'))
  const { well, disks } = await doctor({ env: { FIRMLAKE_WORK_DIR: join(folder, 'file') } })
  expect([well, disks.find((disk) => disk.folder === join(folder, 'file'))?.lacks]).toEqual([
    false,
    ['write access'],
  ])
})
