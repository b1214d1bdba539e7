/** A backup takes the lake's place, and the published tables of the lake that was lost are still there. */

import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TableFormatName } from '../../src/core/table-formats.ts'
import { copy } from '../../src/jobs/copy.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import type { PublishOptions } from '../../src/options/interfaces.ts'
import { publish } from '../../src/targets/publish.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const load = async (one: Bench, id: number): Promise<string> => {
  await one.write(`${id}.jsonl`, [companyLine(id)])
  return (await one.run([`${id}.jsonl`])).summary.run
}

/** The folders of logs and metadata. */
const logsIn = async (lake: string): Promise<readonly string[]> =>
  (await readdir(lake, { recursive: true })).filter((path) => /(^|\/)(_delta_log|metadata)$/.test(path))

/** The lake as a backup of its first snapshot, with what was published of the lost second one. */
const restored = async (format: TableFormatName): Promise<Bench & { readonly lost: string }> => {
  const one = openBench(await temporaryFolder())
  const backup = join(one.folder, 'backup')
  await load(one, 1)
  await copy({ lake: one.lake, to: backup, sameLake: true })
  const lost = await load(one, 2)
  await publish({ lake: one.lake, formats: [format] })
  for (const log of await logsIn(one.lake))
    await cp(join(one.lake, log), join(backup, log), { recursive: true })
  await rm(one.lake, { recursive: true })
  await cp(backup, one.lake, { recursive: true })
  return { ...one, lost }
}

const stringsOf = async (lake: string): Promise<string> => {
  const strings: string[] = []
  for (const log of await logsIn(lake))
    strings.push(...(await readdir(join(lake, log))).map((name) => join(log, name)))
  return strings.sort().join('\n')
}

test.each<TableFormatName>(['delta', 'iceberg'])(
  'publish %s refuses what shows a lost snapshot, also once gc has removed the number, and begins anew',
  async (format) => {
    const one = await restored(format)
    const published = (more: Partial<PublishOptions> = {}) =>
      publish({ lake: one.lake, formats: [format], ...more })
    const before = await stringsOf(one.lake)
    const ahead = { code: 'TARGET_AHEAD', context: { snapshot: 2, run: one.lost } }
    // Ahead, then beside another snapshot of the number, then behind the oldest one.
    for (const id of [3, 4, 5]) {
      await expect(published()).rejects.toMatchObject(ahead)
      await expect(published({ rows: ['current'] })).rejects.toMatchObject(ahead)
      await load(one, id)
    }
    await removeGarbage({ lake: one.lake, keep: 1, now: new Date() })
    for (const rows of [['all'], ['current']] as const)
      await expect(published({ rows })).rejects.toMatchObject(ahead)
    expect(await stringsOf(one.lake)).toBe(before)
    const { snapshot, tables } = await published({ overwrite: true })
    expect(snapshot).toBe(4)
    const companies = tables.filter(({ table }) => table === 'companies')
    // Company 1, and three that came since.
    expect(companies.map(({ rows, added }) => [rows, added])).toEqual([
      ['all', 4],
      ['current', 4],
    ])
    expect((await published()).tables.every(({ versions }) => versions === 0)).toBe(true)
    expect((await one.verify()).problems).toEqual([])
  },
)
