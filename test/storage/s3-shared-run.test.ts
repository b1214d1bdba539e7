/** A run that many machines work on in a bucket, and what happens between two requests of one of them. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { cancelSharedRun } from '../../src/shared-run/shared-run.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { statPath } from '../../src/support/list-files.ts'
import { temporaryName, thisProcess } from '../../src/support/process-identity.ts'
import { companyLines, runIn, textOf, verify } from '../run/batch-bench.ts'
import { type Steps, stepsOf } from '../shared-run/shared-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { Passing } from './loopback-proxy.ts'
import { s3Bench } from './s3-bench.ts'

// A process has one connection for each address, and each test has a server of its own.
const RACED = 's3://lakes/raced'
const CANCELLED = 's3://lakes/cancelled'
const COPIED = 's3://lakes/copied'

interface Shared extends Steps {
  readonly id: string
  /** Does something before the next request that fits is passed on. */
  readonly before: (fits: (passing: Passing) => boolean, what: () => Promise<unknown>) => void
}

/** A run whose only unit is done, on a lake that has a snapshot. */
const worked = async (context: TestContext, lake: string): Promise<Shared> => {
  let next: { fits: (passing: Passing) => boolean; what: () => Promise<unknown> } | undefined
  await s3Bench(context, async (passing) => {
    if (!next?.fits(passing)) return undefined
    const { what } = next
    next = undefined
    await what()
    return undefined
  })
  const folder = await temporaryFolder()
  for (const [at, name] of ['first.jsonl', 'a.jsonl'].entries())
    await writeFile(join(folder, name), textOf(companyLines(3, at * 3 + 1)))
  await runIn(folder, lake, ['first.jsonl'])
  const steps = stepsOf(folder, lake)
  const { run } = await steps.plan(['a.jsonl'])
  await steps.work(run ?? '', [0])
  return {
    ...{ ...steps, id: run ?? '' },
    before: (fits, what) => {
      next = { fits, what }
    },
  }
}

test('a commit that finds the run gone because another one has just committed it says so', async (context) => {
  const { id, commit, before } = await worked(context, RACED)
  before(
    ({ method, url }) => method === 'GET' && url.includes('/units.json'),
    () => commit(id),
  )
  expect(await commit(id)).toEqual({ kind: 'already', run: id, snapshot: 2 })
})

test('a run that is cancelled while it is committed keeps its files, whatever gc does', async (context) => {
  const { id, commit, before } = await worked(context, CANCELLED)
  before(
    ({ method, url }) => method === 'PUT' && url.includes('/_manifest/00000002.json'),
    async () => {
      expect(await cancelSharedRun(CANCELLED, id)).toBeNull()
      await removeGarbage({ lake: CANCELLED, now: new Date() })
    },
  )
  expect(await commit(id)).toMatchObject({ kind: 'committed', summary: { snapshot: { snapshot: 2 } } })
  expect(await verify(CANCELLED)).toMatchObject({ problems: [] })
  await removeGarbage({ lake: CANCELLED, now: new Date() })
  expect(await verify(CANCELLED)).toMatchObject({ problems: [], notes: [] })
})

test('gc leaves alone what another process of this machine is just copying', async (context) => {
  await worked(context, COPIED)
  const { local } = storageOf(COPIED)
  const { run } = await readSnapshot(COPIED)
  const [copying, dead] = [temporaryName(), temporaryName({ ...thisProcess(), pid: 2 ** 30 })].map((name) =>
    join(local, 'companies', `load=${run}`, name),
  )
  await mkdir(join(local, 'companies', `load=${run}`), { recursive: true })
  for (const path of [copying, dead]) await writeFile(path ?? '', '')
  await removeGarbage({ lake: COPIED, now: new Date() })
  expect([await statPath(copying ?? ''), await statPath(dead ?? '')]).toMatchObject([{ kind: 'file' }, null])
})
