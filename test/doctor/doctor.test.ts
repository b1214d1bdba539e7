import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { installLine } from '../../src/core/optional-parts.ts'
import { doctor } from '../../src/jobs/doctor.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('doctor finds what the core needs, shows no secret, and leaves nothing behind', async () => {
  const folder = await temporaryFolder()
  const env = { FIRMLAKE_WORK_DIR: folder, FIRMLAKE_TOKEN: 'secret-4711', PGPASSWORD: 'secret-4712' }
  const found = await doctor({ env })
  expect(found.well).toBe(true)
  expect(JSON.stringify(found)).not.toContain('secret-471')
  expect(found.findings.find(({ about }) => about === 'node')?.says).toBe(`Node ${process.versions.node}`)
  expect(found.findings.find(({ about }) => about === 'duckdb')?.says).toMatch(/^DuckDB v\d/)
  expect(await readdir(folder)).toEqual([])
  for (const { about, mend } of found.findings)
    if (about === 's3' && mend !== undefined) expect(mend).toBe(installLine('s3'))
})

test('doctor refuses a target whose address is none', async () => {
  await expect(doctor({ sinks: ['nothing-of-ours'] })).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
})
