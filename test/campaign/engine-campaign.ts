/**
 * A run on a Temporal server whose workers and server are killed at random moments, with and without the processes that they
 * have started. A case is a kill. The seed chooses what is killed and after how long; at which point of its work that is is the
 * machine's to say.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { convertOnEngine } from '../../src/engine/on-engine.ts'
import { withTemporal } from '../../src/engine/temporal/client.ts'
import { addressOf } from '../../src/engine/temporal/connect.ts'
import { convert } from '../../src/jobs/convert.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { RunReport } from '../../src/run/run-report.ts'
import { openWorker, type WorkerProcess } from '../engine/temporal-bench.ts'
import { hashLake, verify } from '../run/batch-bench.ts'
import { openTemporal, type TemporalServer } from '../support/temporal-server.ts'
import type { Campaign, CampaignOptions, CampaignResult } from './campaign.ts'
import { INPUTS, writeManyFiles } from './many-files.ts'

const WHOLE_CASES = 50
const WORKERS = 2
const QUEUE = 'engine-campaign'
const HEARTBEAT_MS = 5000
const SECONDS = /, (?<seconds>[\d.]+) s$/

class Disturbed {
  readonly #server: TemporalServer
  readonly #options: CampaignOptions
  readonly #folder: string
  readonly #workers: WorkerProcess[] = []
  readonly figures: Record<string, number> = {}

  constructor(server: TemporalServer, folder: string, options: CampaignOptions) {
    this.#server = server
    this.#folder = folder
    this.#options = options
    for (let at = 0; at < WORKERS; at += 1) this.#start(at)
  }

  #start(at: number): void {
    const args = ['--task-queue', QUEUE, '--slots', '1', '--threads', '1']
    const env = { FIRMLAKE_WORK_DIR: join(this.#folder, `work-${at}`) }
    this.#workers[at] = openWorker(this.#server.address, args, { cwd: this.#folder, env, group: true })
  }

  #count(what: string): void {
    this.figures[what] = (this.figures[what] ?? 0) + 1
  }

  /** Kills so many times, as long as the run goes on. @returns how many times it was */
  async disturb(signal: AbortSignal): Promise<number> {
    const { cases, random, log } = this.#options
    let usualMs = 3000
    for (let kills = 0; kills < cases; kills += 1) {
      const at = Math.floor(random() * WORKERS)
      const onServer = random() < 0.25
      const worker = this.#workers[at]
      // One that has not begun would be killed at its start each time.
      await Promise.race([worker?.said(/^Working for/), pause(120_000, undefined, { signal })]).catch(
        () => undefined,
      )
      await pause(0.5 * random() * usualMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return kills
      for (const line of worker?.lines ?? []) {
        const { seconds } = SECONDS.exec(line)?.groups ?? {}
        if (seconds !== undefined) usualMs = 0.8 * usualMs + 200 * Number(seconds)
      }
      if (onServer) await this.#killServer(random() * 2000)
      else await this.#killWorker(at, random() < 0.5)
      log(`${kills + 1} of ${cases} killed: ${onServer ? 'the server' : `worker ${at}`}`)
    }
    return cases
  }

  async #killServer(awayMs: number): Promise<void> {
    await this.#server.kill()
    await pause(awayMs)
    await this.#server.start()
    this.#count('server killed')
  }

  /** @param alone its steps live on, as if only the worker had crashed; else its machine has */
  async #killWorker(at: number, alone: boolean): Promise<void> {
    const worker = this.#workers[at]
    if (alone) await worker?.end('SIGKILL')
    else await worker?.[Symbol.asyncDispose]()
    this.#count(alone ? 'worker killed, its steps live on' : 'worker killed with its steps')
    this.#start(at)
  }

  async end(): Promise<void> {
    for (const worker of this.#workers) {
      for (const line of worker.lines)
        if (/ unit \d+: done/.test(line)) this.#count('units reported by last workers')
      await worker[Symbol.asyncDispose]()
    }
  }
}

const judge = async (lake: string, alone: string, { run, snapshot }: RunReport): Promise<string[]> => {
  const wrong: string[] = []
  const found = await readSnapshot(lake)
  if (found.snapshot !== 1 || found.run !== run || snapshot !== 1)
    wrong.push(`snapshot ${found.snapshot} is of run ${found.run}, expected one snapshot, of ${run}`)
  const rows = await hashLake(lake)
  for (const [table, hash] of Object.entries(await hashLake(alone)))
    if (rows[table] !== hash) wrong.push(`${table} has ${rows[table]}, expected ${hash}`)
  const { problems, notes } = await verify(lake)
  wrong.push(
    ...problems.map((problem) => `verify: ${JSON.stringify(problem)}`),
    ...notes.map((one) => `verify: ${one}`),
  )
  await removeGarbage({ lake, now: new Date() })
  const { files, runs, leftovers } = await removeGarbage({ lake, now: new Date() })
  wrong.push(...[...files, ...runs, ...leftovers].map((path) => `gc finds "${path}" a second time`))
  return wrong
}

const runKills = async (options: CampaignOptions): Promise<CampaignResult> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-engine-campaign-'))
  const server = await openTemporal()
  const over = new AbortController()
  let disturbed: Disturbed | undefined
  try {
    const files = await writeManyFiles(join(folder, 'files'), options.cases < 10 ? 12 : 100, options.seed)
    disturbed = new Disturbed(server, folder, options)
    const begun = Promise.withResolvers<void>()
    const killing = begun.promise.then(() => disturbed?.disturb(over.signal) ?? 0)
    const at = addressOf({ address: server.address, namespace: undefined, taskQueue: QUEUE })
    const engineOptions = { unitsAtOnce: 200, maxWaitMs: 900_000, heartbeatMs: HEARTBEAT_MS }
    const from = join(files.folder, INPUTS)
    const alone = join(folder, 'alone')
    await convert({ from, lake: alone, maxQuarantined: '50%' })
    let units = 0
    const lake = join(folder, 'lake')
    const report = await withTemporal(at, engineOptions, (engine) =>
      convertOnEngine(
        { from: [from], lake, maxQuarantined: '50%', threads: 1 },
        {
          engine,
          unitBytes: 1,
          onUnits: (progress) => {
            units = progress.units
            begun.resolve()
          },
        },
      ),
    )
    over.abort()
    const kills = await killing
    await disturbed.end()
    const wrong = await judge(lake, alone, report)
    return { cases: kills, wrong, figures: { units, ...disturbed.figures } }
  } finally {
    over.abort()
    await disturbed?.end()
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
}

export const campaign: Campaign = {
  about: 'however often the workers of a run and the server are killed, one snapshot shows all rows once',
  wholeCases: WHOLE_CASES,
  run: runKills,
}
