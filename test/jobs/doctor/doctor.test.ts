import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installLine } from '../../../src/core/optional-parts.ts'
import { doctor } from '../../../src/jobs/doctor/doctor.ts'
import { snapshotPath } from '../../../src/lake/files/layout.ts'
import { FORMAT } from '../../../src/manifest/form/root-form.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { smallLake } from '../../publish/sample-lake.ts'
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
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 1)
  const { well, findings } = await doctor({ lake })
  expect(well).toBe(true)
  expect(findings.find(({ about }) => about === 'lake')).toEqual({
    ...{ about: 'lake', state: 'well', says: 'snapshot 1 in format 7' },
  })
  const path = join(lake, snapshotPath(1))
  const [body = ''] = (await readFile(path, 'utf8'))
    .replace(`"format": ${FORMAT}`, '"format": 4')
    .split('  "sha256": "')
  await writeFile(path, `${body}  "sha256": "${sha256Of(body)}"\n}\n`)
  const unreleased = await doctor({ lake })
  expect(unreleased.well).toBe(false)
  expect(unreleased.findings.find(({ about }) => about === 'lake')).toMatchObject({
    state: 'missing',
    says: expect.stringContaining('LAKE_UNRELEASED'),
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
