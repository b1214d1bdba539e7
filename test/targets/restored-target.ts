/** A lake whose backup takes its place, and the targets that show what it has lost. */

import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import { copy } from '../../src/jobs/copy.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export const AHEAD = { code: 'TARGET_AHEAD' }

/** Loads the company of a number, in a file of its own. @returns the run */
export const load = async (one: Bench, id: number): Promise<string> => {
  await one.write(`${id}.jsonl`, [companyLine(id)])
  return (await one.run([`${id}.jsonl`])).summary.run
}

const backUp = (one: Bench): Promise<unknown> =>
  copy({ lake: one.lake, to: join(one.folder, 'backup'), sameLake: true, snapshots: 'all' })

export const restore = async (one: Bench): Promise<void> => {
  await rm(one.lake, { recursive: true })
  await rename(join(one.folder, 'backup'), one.lake)
}

/** A lake with company 1 in snapshot 1, and its backup; `more` comes to the lake, and is lost. */
export const lakeWithBackup = async (): Promise<Bench> => {
  const one = openBench(await temporaryFolder())
  await load(one, 1)
  await backUp(one)
  return one
}

export interface Target {
  readonly address: string | DeliverySink
  /** The ids of the companies that it shows. */
  readonly ids: () => Promise<readonly number[]>
}

const idsBy = async (sql: string): Promise<readonly number[]> => {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  try {
    const rows = await connection.runAndReadAll(sql)
    return rows.getRows().map(([id]) => Number(id))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

export const duckdbAt = (file: string): Target => ({
  address: file,
  ids: () => idsBy(`ATTACH '${file}' AS db (READ_ONLY); SELECT internal_id FROM db.companies ORDER BY ALL`),
})

/** Runs in the names of the files: that each has one company is known, so that no reader of the format is needed. */
export const folderOf = (format: string, folder: string, runs: ReadonlyMap<string, number>): Target => ({
  address: `${format}:${folder}`,
  ids: async () =>
    (await readdir(join(folder, 'companies')))
      .map((name) => runs.get(name.slice('load='.length)) ?? 0)
      .sort((a, b) => a - b),
})

/** Expects that what the lake has lost is refused by a target, and gone with `overwrite`. */
export const expectRefusedUntilAnew = async (
  targetOf: (one: Bench, runs: ReadonlyMap<string, number>) => Promise<Target> | Target,
): Promise<void> => {
  const one = openBench(await temporaryFolder())
  const runs = new Map<string, number>()
  const loadNoted = async (id: number): Promise<void> => {
    runs.set(await load(one, id), id)
  }
  const target = await targetOf(one, runs)
  const toTarget = (more: object = {}) => deliver({ lake: one.lake, sinks: [target.address], ...more })
  await loadNoted(1)
  await backUp(one)
  await loadNoted(2)
  await toTarget()
  await restore(one)
  // Also where the lake is only behind, and has nothing to deliver.
  await expect(toTarget()).rejects.toMatchObject(AHEAD)
  await loadNoted(3)
  await expect(toTarget()).rejects.toMatchObject(AHEAD)
  await expect(toTarget({ adopt: true })).rejects.toMatchObject(AHEAD)
  expect(await target.ids()).toEqual([1, 2])
  const [anew] = await toTarget({ overwrite: true })
  expect(anew?.warnings.join()).toMatch(/does not have/)
  expect(await target.ids()).toEqual([1, 3])
  await loadNoted(4)
  expect(await toTarget({ overwrite: true })).toMatchObject([{ runs: [expect.any(String)], warnings: [] }])
  expect(await target.ids()).toEqual([1, 3, 4])
}
