/** One round of the campaign `machines`: a run that many machines work on, and all that befalls them. */

import { setTimeout as pause } from 'node:timers/promises'
import { openRowCounter } from '../../src/jobs/verify.ts'
import {
  CATALOG_FILE,
  CATALOG_FILE_RECORD,
  inLake,
  LAKE_FILE,
  LAKE_FILE_RECORD,
  RUNS_FOLDER,
} from '../../src/lake/files/layout.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { hasEnded } from '../../src/manifest/runs/shared-commits.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { NO_SERVICE } from '../../src/run/job-kind.ts'
import { planSharedRun } from '../../src/shared-run/plan-shared-run.ts'
import { sharedRunStatus } from '../../src/shared-run/shared-run.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { listTree } from '../../src/support/list-files.ts'
import { hashLake, runIn } from '../run/batch-bench.ts'
import { stepsOf } from '../shared-run/shared-bench.ts'
import type { Environment } from '../support/s3-server.ts'
import { Step, type StepEnd, type UsualTimes } from './disturbed-steps.ts'
import { shuffled } from './disturbed-work.ts'
import { FIRST, INPUTS, type ManyFiles } from './many-files.ts'

export interface RoundOptions {
  readonly lake: string
  readonly files: ManyFiles
  readonly random: () => number
  readonly usual: UsualTimes
  /** Environments of the machines. */
  readonly machines: readonly Environment[]
  readonly say: (what: string) => void
  readonly count: (what: string, by?: number) => void
}

const WORKERS = 4
const DAY_MS = 86_400_000
/** So that the larger file has several. */
const SMALL_BLOCKS = { blockBytes: 12_000 }
const UNIT_BYTES = [6_000, 15_000, 30_000] as const
const DONE = [0] as const

/** What is set going in a round, to be looked at when it is over. */
interface Stopped {
  readonly step: Step
  readonly judged: Promise<unknown>
}

class Round {
  readonly #options: RoundOptions
  readonly #stopped: Stopped[] = []
  #machine = 0

  constructor(options: RoundOptions) {
    this.#options = options
  }

  async play(): Promise<void> {
    const { lake, files, random } = this.#options
    const onFirst = this.#chance(0.75)
    if (onFirst) await runIn(files.folder, lake, [FIRST])
    const over = new AbortController()
    const collecting = this.#collectGarbage(over.signal)
    try {
      if (this.#chance(0.2)) await this.#cancelledRun()
      const { run, twin } = await this.#plan()
      const units = (await sharedRunStatus(lake, run)).units
      this.#options.count('units', units)
      await this.#work(
        run,
        shuffled(
          Array.from({ length: units }, (_, id) => id),
          random,
        ),
      )
      await this.#commit(run)
      if (twin !== undefined) await this.#commitTwin(twin)
      this.#continueAll()
      await Promise.all(this.#stopped.map(({ judged }) => judged))
      over.abort()
      await collecting
      await this.#judge(run, twin, onFirst)
    } finally {
      over.abort()
      for (const { step } of this.#stopped) step.signal('SIGKILL')
      await collecting
    }
  }

  #chance(share: number): boolean {
    return this.#options.random() < share
  }

  #start(kind: string, ...args: readonly string[]): Step {
    const { lake, files, machines } = this.#options
    this.#machine += 1
    const environment = machines[this.#machine % machines.length] ?? {}
    return new Step(
      kind,
      [...(kind === 'plan' ? args : ['run', ...args]), '--lake', lake, '--json'],
      files.folder,
      environment,
    )
  }

  /** Waits for the end of a step, which must be one of those expected. */
  async #end(step: Step, expected: readonly StepEnd['end'][]): Promise<StepEnd> {
    const began = performance.now()
    const ended = await step.ended
    this.#options.count(`${step.name}: ${ended.end}`)
    if (ended.end === 0 && expected.length === 1)
      this.#options.usual.learn(step.name, performance.now() - began)
    if (ended.end === 0) this.#countOutcomes(step.name, ended.stdout)
    if (!expected.includes(ended.end))
      this.#options.say(`${step.name} ended with ${ended.end}, expected ${expected}: ${ended.stderr.trim()}`)
    return ended
  }

  #countOutcomes(name: string, stdout: string): void {
    const printed: { readonly kind?: string; readonly units?: unknown } = JSON.parse(stdout)
    if (printed.kind !== undefined) this.#options.count(`${name}: ${printed.kind}`)
    if (!Array.isArray(printed.units)) return
    for (const { kind } of printed.units) this.#options.count(`unit: ${kind}`)
  }

  /** A moment of a step; a few come when it is over. */
  #moment(kind: string): number {
    return (0.1 + this.#options.random()) * this.#options.usual.of(kind)
  }

  /** Lets a step be killed at a moment. */
  async #killed(step: Step, signal: 'SIGKILL' | 'SIGTERM', expected: readonly number[]): Promise<StepEnd> {
    const hit = await step.signalAfter(signal, this.#moment(step.name))
    // A process that has not set its handlers yet is ended by the signal itself.
    const ends = signal === 'SIGTERM' ? [143, 'SIGTERM' as const] : (['SIGKILL'] as const)
    return this.#end(step, hit ? [...expected, ...ends] : expected)
  }

  /** Stops a process as if its machine slept; it goes on when all is over for the others. */
  async #zombie(step: Step, expected: readonly number[]): Promise<void> {
    if (await step.signalAfter('SIGSTOP', this.#moment(step.name)))
      this.#options.count(`${step.name}: continued when others were done`)
    this.#stopped.push({ step, judged: this.#end(step, expected) })
  }

  #continueAll(): void {
    for (const { step } of this.#stopped) step.signal('SIGCONT')
  }

  async #collectGarbage(signal: AbortSignal): Promise<void> {
    const { lake, say, count, random } = this.#options
    while (!signal.aborted) {
      try {
        await removeGarbage({ lake, now: new Date() })
        count('gc')
      } catch (error) {
        const isMissing = error instanceof Error && 'code' in error && error.code === 'LAKE_NOT_FOUND'
        if (!isMissing) say(`gc failed: ${error}`)
      }
      await pause(50 + random() * 400, undefined, { signal }).catch(() => undefined)
    }
  }

  #planArgs(): readonly string[] {
    const { random } = this.#options
    const unitBytes = UNIT_BYTES[Math.floor(random() * UNIT_BYTES.length)] ?? 15_000
    return ['convert', INPUTS, '--plan-only', '--unit-bytes', String(unitBytes)]
  }

  async #planned(step: Step): Promise<string> {
    const { stdout, end } = await this.#end(step, DONE)
    if (end !== 0) throw new Error('the plan failed')
    return JSON.parse(stdout).run
  }

  /** Plans, sometimes after planners that were killed, sometimes twice at once. */
  async #plan(): Promise<{ readonly run: string; readonly twin?: string }> {
    const { lake, files } = this.#options
    if (this.#chance(0.3)) {
      const job = { kind: 'convert', inputs: [INPUTS], cwd: files.folder } as const
      const { run } = await planSharedRun({
        ...NO_SERVICE,
        lake,
        job,
        unitBytes: 3_000,
        limits: SMALL_BLOCKS,
      })
      if (run !== null) return { run }
    }
    const args = this.#planArgs()
    while (this.#chance(0.4)) await this.#killed(this.#start('plan', ...args), 'SIGKILL', DONE)
    if (this.#chance(0.75)) return { run: await this.#planned(this.#start('plan', ...args)) }
    const both = [this.#start('plan', ...args), this.#start('plan', ...args)]
    const [run = '', twin] = await Promise.all(both.map((step) => this.#planned(step)))
    return { run, ...(twin !== undefined && twin !== run && { twin }) }
  }

  /** A run that ends without a commit while it is worked on. */
  async #cancelledRun(): Promise<void> {
    const run = await this.#planned(this.#start('plan', ...this.#planArgs()))
    const shards = ['0/2', '0/2', '1/2']
    const workers = shards.map((shard) => this.#start('work', 'work', run, '--shard', shard))
    await pause(this.#moment('work'))
    await this.#end(this.#start('cancel', 'cancel', run), DONE)
    await Promise.all(workers.map((step) => this.#end(step, [0, 4])))
    const [late = 'work', ...more] = this.#chance(0.5) ? ['work', '--shard', '0/1'] : ['commit']
    await this.#end(this.#start(late, late, run, ...more), [4])
  }

  /** Four workers, each unit given to at least two of them; in the end all units are done. */
  async #work(run: string, ids: readonly number[]): Promise<void> {
    const all = this.#chance(0.25)
    const halves = [0, 1].map((half) => ids.filter((_, at) => at % 2 === half))
    const workers = Array.from({ length: WORKERS }, (_, at) => (all ? ids : (halves[at % 2] ?? [])))
    await Promise.all([
      ...workers.map((units) => this.#worker(run, units)),
      ...(this.#chance(0.5) ? [this.#earlyCommit(run)] : []),
    ])
    await this.#finish(run)
  }

  /** Whatever nobody has done, where all who tried were killed or sleep. */
  async #finish(run: string): Promise<void> {
    const { lake, files, count } = this.#options
    const { units } = await stepsOf(files.folder, lake).work(run, { shard: { index: 0, of: 1 } })
    for (const { kind } of units) count(`unit: ${kind}`)
  }

  async #worker(run: string, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return
    const start = (): Step => this.#start('work', 'work', run, '--unit', ...ids.map(String))
    while (this.#chance(0.45)) {
      const { end } = await this.#killed(start(), this.#chance(0.2) ? 'SIGTERM' : 'SIGKILL', DONE)
      if (end === 0) return
    }
    if (this.#chance(0.25)) return this.#zombie(start(), DONE)
    await this.#end(start(), DONE)
  }

  /** May find that all units are done, and commits then. */
  async #earlyCommit(run: string): Promise<void> {
    await pause(this.#moment('work'))
    await this.#end(this.#start('commit', ...this.#commitArgs(run)), [0, 75])
  }

  #commitArgs(run: string): readonly string[] {
    return ['commit', run, '--max-quarantined', '50%']
  }

  /** Three commits at once, some of them killed or stopped; while they run, or later, stopped workers go on. */
  async #commit(run: string): Promise<void> {
    if (this.#chance(0.3)) this.#continueAll()
    const args = this.#commitArgs(run)
    const commits = Array.from({ length: 3 }, async () => {
      const step = this.#start('commit', ...args)
      if (this.#chance(0.5)) await this.#killed(step, this.#chance(0.15) ? 'SIGTERM' : 'SIGKILL', DONE)
      else if (this.#chance(0.3)) await this.#zombie(step, DONE)
      else await this.#end(step, DONE)
    })
    if (this.#chance(0.3)) this.#continueAll()
    await Promise.all(commits)
    await this.#end(this.#start('commit', ...args), DONE)
    this.#continueAll()
    if (this.#chance(0.7)) return
    await this.#end(this.#start('work', 'work', run, '--shard', '1/3'), DONE)
    const { stdout } = await this.#end(this.#start('commit', ...args), DONE)
    if (JSON.parse(stdout || '{}').kind !== 'already') this.#options.say('a commit was made again')
  }

  /** The same files, planned twice at once: nothing is loaded twice. */
  async #commitTwin(twin: string): Promise<void> {
    this.#options.count('planned twice')
    await this.#finish(twin)
    await this.#end(this.#start('commit', ...this.#commitArgs(twin)), DONE)
  }

  async #judge(run: string, twin: string | undefined, onFirst: boolean): Promise<void> {
    const { lake, files, say, count } = this.#options
    await removeGarbage({ lake, now: new Date() })
    // It found nothing new: whoever commits it again is told so by its trace, which gc leaves for a day.
    if (twin !== undefined && !(await hasEnded(lake, twin)))
      say(`of run ${twin}, which found nothing new, no trace is left`)
    await this.#sweepUnborn()
    const snapshot = await readSnapshot(lake)
    const expected = onFirst ? files.expected.onFirst : files.expected.alone
    if (snapshot.snapshot !== (onFirst ? 2 : 1) || snapshot.run !== run)
      say(`snapshot ${snapshot.snapshot} is of run ${snapshot.run}, expected one snapshot of ${run}`)
    const found = await hashLake(lake)
    for (const [table, rows] of Object.entries(expected))
      if (found[table] !== rows) say(`${table} has ${found[table]}, expected ${rows}`)
    const counter = await openRowCounter()
    try {
      const { problems, notes } = await verifyLake({ lake, countRows: counter.countRows })
      for (const one of [...problems.map((problem) => JSON.stringify(problem)), ...notes])
        say(`verify: ${one}`)
    } finally {
      counter.close()
    }
    const listed = new Set(
      [...snapshot.partitions, { files: snapshot.files }].flatMap((one) => one.files.map(({ path }) => path)),
    )
    // `verify` holds them against their hashes; a bucket has no views.
    const views = lake.startsWith('s3:') ? [] : [LAKE_FILE, LAKE_FILE_RECORD]
    for (const path of [CATALOG_FILE, CATALOG_FILE_RECORD, ...views]) listed.add(path)
    if (twin !== undefined) listed.add(`${RUNS_FOLDER}/ended/${twin}`)
    for (const { path } of await storageOf(lake).list(''))
      if (!listed.has(path) && !path.startsWith('_manifest/')) say(`"${path}" is left`)
    const onDisk = new Set([...listed].map((path) => inLake(lake, path)))
    for (const { path, kind } of await listTree(inLake(lake, RUNS_FOLDER)))
      if (kind === 'file' && !onDisk.has(path)) say(`"${path}" is left on this machine`)
    const again = await removeGarbage({ lake, now: new Date() })
    for (const path of [...again.runs, ...again.files, ...again.leftovers, ...again.working])
      say(`gc finds "${path}" a second time`)
    count('rounds')
  }

  /**
   * A bucket has no folder that is made at once: of a planner that was killed some files are left for a day. With them
   * goes the trace of a run that found nothing new.
   */
  async #sweepUnborn(): Promise<void> {
    const { lake, count } = this.#options
    if (!lake.startsWith('s3:')) return
    const { runs } = await removeGarbage({ lake, now: new Date(Date.now() + 2 * DAY_MS) })
    count('plans that were never begun', runs.length)
  }
}

export const playRound = (options: RoundOptions): Promise<void> => new Round(options).play()
