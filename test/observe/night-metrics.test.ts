import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NightTotals, writeMetricsFile } from '../../src/observe/night-metrics.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NIGHT = {
  ...{ lake: './lake', exitCode: 0, totals: new NightTotals(), checks: [] },
  ...{ started: new Date(0), ended: new Date(1000) },
}

test('writeMetricsFile follows no link that stands in its way', async () => {
  const folder = await temporaryFolder()
  const [path, victim] = [join(folder, 'night.prom'), join(folder, 'victim')]
  await writeFile(victim, 'kept', { mode: 0o600 })
  await symlink(victim, path)
  await symlink(victim, `${path}.${process.pid}.tmp`)
  await writeMetricsFile(path, NIGHT)
  expect(await readFile(victim, 'utf8')).toBe('kept')
  expect((await stat(victim)).mode & 0o777).toBe(0o600)
  expect((await lstat(path)).isFile()).toBe(true)
})

test('the file is readable by others in whatever folder it stands, and nothing else is left there', async () => {
  const folder = await temporaryFolder()
  await chmod(folder, 0o700)
  const path = join(folder, 'night.prom')
  for (const _ of [1, 2]) await writeMetricsFile(path, NIGHT)
  expect((await stat(path)).mode & 0o777).toBe(0o644)
  expect(await readdir(folder)).toEqual(['night.prom'])
  expect(await readFile(path, 'utf8')).toContain('firmlake_night_success{lake="./lake"} 1\n')
})
