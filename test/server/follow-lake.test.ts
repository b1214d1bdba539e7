import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copy } from '../../src/jobs/copy.ts'
import { readSnapshotHash } from '../../src/manifest/snapshots/snapshots.ts'
import { followLake } from '../../src/server/follow-lake.ts'
import { type OpenSnapshot, ServedSnapshots } from '../../src/server/served-snapshots.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const load = async (one: Bench, id: number): Promise<void> => {
  await one.write(`${id}.jsonl`, [companyLine(id)])
  await one.run([`${id}.jsonl`])
}

const opened = async (lake: string, number: number): Promise<OpenSnapshot> => {
  const search = async () => ({ kind: 'refused', messages: [] }) as const
  return {
    ...{ number, sha256: await readSnapshotHash(lake, number), asOf: '', segments: [], countries: [] },
    ...{
      companies: search,
      relations: search,
      protectedDigest: '',
      close: async () => undefined,
    },
  }
}

/** Follows until the server has moved once. @returns the snapshot that it has moved to */
const moved = async (served: ServedSnapshots, lake: string): Promise<number> => {
  const stop = new AbortController()
  const found: number[] = []
  await followLake(
    served,
    {
      ...{ lake, everyMs: 1, build: async () => undefined, open: (number) => opened(lake, number) },
      onMove: (number) => {
        found.push(number)
        stop.abort()
      },
      onFollowError: (error) => stop.abort(error),
    },
    stop.signal,
  )
  return found[0] ?? 0
}

test('followLake leaves a snapshot that the lake has lost, for an older one and for another of the same number', async () => {
  const one = openBench(await temporaryFolder())
  const backup = join(one.folder, 'backup')
  await load(one, 1)
  await copy({ lake: one.lake, to: backup, sameLake: true })
  await load(one, 2)
  const [lost, again] = [await opened(one.lake, 2), await opened(one.lake, 2)]
  await rm(one.lake, { recursive: true })
  await rename(backup, one.lake)
  expect(await moved(new ServedSnapshots(lost), one.lake)).toBe(1)
  await load(one, 3)
  const served = new ServedSnapshots(again)
  expect(await moved(served, one.lake)).toBe(2)
  expect(served.current.sha256).toBe(await readSnapshotHash(one.lake, 2))
  expect(served.current.sha256).not.toBe(again.sha256)
})
