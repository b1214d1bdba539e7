/** The workflows alone: a stand-in for the steps of a run. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { withTemporal } from '../../src/engine/temporal/client.ts'
import { addressOf } from '../../src/engine/temporal/connect.ts'
import { needs } from '../support/needs.ts'
import { missingTemporal, openTemporal } from '../support/temporal-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openWorker, withClient } from './temporal-bench.ts'

const STAND_IN_WORKER = fileURLToPath(new URL('../../bench/engine-worker.ts', import.meta.url))

test('workflows are continued as new ones, and every unit of every phase is worked on once, in the order of phases', async (context) => {
  needs(context, 'a Temporal server, which .ci/install-tools installs', missingTemporal())
  // Of the server that knows it, a history is long soon.
  const server = await openTemporal(['limit.historyCount.suggestContinueAsNew=20'])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const folder = await temporaryFolder()
  const log = join(folder, 'steps.log')
  const worker = openWorker(server.address, ['--task-queue', 'q', '--slots', '4'], {
    cwd: folder,
    main: STAND_IN_WORKER,
    // "run work RUN --lake=LAKE --memory=BYTES --json --unit=UNIT …"
    env: { STAND_IN: `echo "$2 \${7#--unit=}" >> '${log}'` },
  })
  onTestFinished(() => worker[Symbol.asyncDispose]())
  await worker.said(/^Working for/)
  const phases = Array.from({ length: 6 }, (_, phase) => ({ first: phase * 12, count: 12 }))
  const at = addressOf({ address: server.address, namespace: undefined, taskQueue: 'q' })
  const limits = {
    unitsAtOnce: 5,
    maxWaitMs: 60_000,
    maxQuarantined: '1%',
    maxGone: '2%',
    changeCurrency: false,
    commits: true,
  }
  const request = {
    lake: join(folder, 'lake'),
    run: '20261121T094500123Z-1f9a2c',
    phases,
    memoryBytes: 2 ** 30,
    ...limits,
  }
  const outcome = await withTemporal(at, limits, (engine) => engine.work(request, undefined))
  expect(outcome).toMatchObject({ snapshot: null, skipped: [], excluded: [] })
  const steps = (await readFile(log, 'utf8')).trim().split('\n')
  expect(steps.at(-1)).toMatch(/^commit /)
  const units = steps.slice(0, -1).map((step) => Number(step.replace('work ', '')))
  expect(units.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 72 }, (_, unit) => unit))
  const phasesOfUnits = units.map((unit) => Math.floor(unit / 12))
  expect(phasesOfUnits).toEqual(phasesOfUnits.toSorted((a, b) => a - b))
  const continued = await withClient(server.address, async ({ workflow }) => {
    const kinds = new Set<string>()
    for await (const one of workflow.list()) if (one.status.name === 'CONTINUED_AS_NEW') kinds.add(one.type)
    return [...kinds].sort()
  })
  expect(continued).toEqual(['firmlakeRun', 'firmlakeShard'])
})
