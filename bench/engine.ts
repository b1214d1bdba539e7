/**
 * What an engine costs by itself: units of a stand-in command of 50 ms through a Temporal server and workers. Prints the CPU
 * time of server and workers for each unit, without that of the commands, and the size of the histories.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withTemporal } from '../src/engine/temporal/client.ts'
import { addressOf } from '../src/engine/temporal/connect.ts'
import { openWorker, withClient } from '../test/engine/temporal-bench.ts'
import { openTemporal } from '../test/support/temporal-server.ts'

const { values } = parseArgs({
  options: {
    units: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '2' },
    slots: { type: 'string', default: '4' },
  },
})
const units = Number(values.units)
const QUEUE = 'bench'
const TICKS_A_SECOND = 100

/** Seconds of a process itself, user and system, without its children. */
const cpuOf = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

const folder = await mkdtemp(join(tmpdir(), 'firmlake-bench-engine-'))
await using server = await openTemporal()
const workers = Array.from({ length: Number(values.workers) }, () =>
  openWorker(server.address, ['--task-queue', QUEUE, '--slots', values.slots], {
    cwd: folder,
    main: new URL('engine-worker.ts', import.meta.url).pathname,
  }),
)
await Promise.all(workers.map((worker) => worker.said(/^Working for/)))
const pids = workers.map(({ child }) => child.pid ?? 0)
const before = { server: await cpuOf(server.pid()), workers: sumOf(await Promise.all(pids.map(cpuOf))) }
const run = '20261121T094920744Z-54d23e'
const startMs = performance.now()
const at = addressOf({ address: server.address, namespace: undefined, taskQueue: QUEUE })
await withTemporal(at, { unitsAtOnce: 200, maxWaitMs: 60_000 }, (engine) =>
  engine.work(
    {
      ...{ lake: join(folder, 'lake'), run, phases: [{ first: 0, count: units }], memoryBytes: 2 ** 30 },
      ...{
        unitsAtOnce: 200,
        maxWaitMs: 60_000,
        maxQuarantined: '1%',
        maxGone: '2%',
        changeCurrency: false,
        commits: true,
      },
    },
    undefined,
  ),
)
const seconds = (performance.now() - startMs) / 1000
const serverMs = (1000 * ((await cpuOf(server.pid())) - before.server)) / units
const workerMs = (1000 * (sumOf(await Promise.all(pids.map(cpuOf))) - before.workers)) / units
const history = await withClient(server.address, async (client) => {
  let [events, bytes, workflows] = [0, 0, 0]
  for await (const one of client.workflow.list()) {
    events += one.historyLength
    bytes += one.historySize ?? 0
    workflows += 1
  }
  return { workflows, events: events / units, bytes: bytes / units }
})
for (const worker of workers) await worker[Symbol.asyncDispose]()
await rm(folder, { recursive: true, force: true })
console.log(`${units} units, ${workers.length} workers with ${values.slots} slots: ${seconds.toFixed(0)} s`)
console.log(`CPU of a unit: server ${serverMs.toFixed(1)} ms, workers ${workerMs.toFixed(1)} ms`)
console.log(
  `${history.workflows} workflows; of a unit ${history.events.toFixed(1)} events, ${history.bytes.toFixed(0)} bytes of history`,
)
