/** Work that was disturbed in any way: what it left must be whole, and done again it must give what undisturbed work gives. */

import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { openRowCounter, type RowCounter } from '../../src/jobs/verify.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { type Batches, writeBatches } from '../durability/batches.ts'
import { type PlannedFault, WRITE_FAULTS, type WriteFault } from '../support/failing-writes.ts'
import type { WriteTask } from './child-writes.ts'
import { DisturbedChild } from './disturbed-child.ts'
import { isWriteOperation, WRITE_OPERATIONS, type WriteOperationName } from './write-operations.ts'

/** A lake before its work, and what undisturbed work makes of it. */
export interface Ground {
  readonly base: string
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly rows: string | undefined
  readonly files: readonly string[]
  /** Calls that can fail, for each kind of failure. */
  readonly calls: Readonly<Record<WriteFault, number>>
  /** How long undisturbed work takes. */
  readonly workMs: number
}

/** Names of all files and folders, whatever the ids of runs, and of partitions, which follow from them, are. */
const filesOf = async (lake: string): Promise<string[]> => {
  const found = await readdir(lake, { recursive: true, withFileTypes: true }).catch(() => [])
  let parts = 0
  const part = (): string => {
    parts += 1
    return `/part ${parts}`
  }
  return found
    .map((entry) => relative(lake, join(entry.parentPath, entry.name)))
    .map((path) => path.replace(/load=[^/]+/, 'load').replace(/\b[0-9a-f]{16}-(?=\d{5}\b)/, ''))
    .map((path) => path.replace(PART, part).replace(RUN, 'run'))
    .sort()
}
/** Parts of the manifest are named after their run: how many there are must be the same. */
const PART = /(?<=^_manifest\/parts)\/[-0-9A-Za-z]+\.(?:jsonl|parquet)$/

const RUN = /(?<=^_runs\/)[-0-9A-Za-z]+Z-[0-9a-f]{6}/

const gc = (lake: string): Promise<unknown> => removeGarbage({ lake, now: new Date() })

/** A published file is whole without the hash beside it, which comes after it: `verify` notes that it has none. */
const PUBLISHED_HASH = /\/_hashes(\/|$)/
/** The folder of a table without files: gc removes it with a folder of a load in it, and leaves it where there was none. */
const EMPTY_TABLE = /^[a-z]+(_[a-z]+)*$/
const EXPECTED = /published files without a hash|is held back/

const COUNTING: PlannedFault = { kind: 'EIO', once: true, nth: 0 }
/** The kinds of work that a campaign disturbs: those that `only` names; of all of them, in a short one, so many. */
export const kindsOf = (cases: number, only?: string): number | readonly WriteOperationName[] => {
  if (only === undefined) return cases < 50 ? 3 : Number.POSITIVE_INFINITY
  return Object.keys(WRITE_OPERATIONS)
    .filter(isWriteOperation)
    .filter((name) => name.startsWith(only) || only.startsWith(`${name}: `))
}

/** Told of each promise that broke. */
type Say = (what: string) => void

export class DisturbedWork implements AsyncDisposable {
  readonly grounds = new Map<WriteOperationName, Ground>()
  readonly wrong: string[] = []
  readonly figures: Record<string, number> = {}
  readonly #folder: string
  readonly #batches: Batches
  readonly #counter: RowCounter
  #lakes = 0

  private constructor(folder: string, batches: Batches, counter: RowCounter) {
    this.#folder = folder
    this.#batches = batches
    this.#counter = counter
  }

  /**
   * Makes the ground of every piece of work, or of a few for a short campaign.
   *
   * @param kinds these, or how many of them, chosen by chance; a convert is among them. @default all
   */
  static async open(
    random: () => number,
    kinds: number | readonly WriteOperationName[] = Number.POSITIVE_INFINITY,
  ): Promise<DisturbedWork> {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-disturbed-'))
    await mkdir(join(folder, 'lakes'))
    const batches = await writeBatches({ companies: 12, files: 2 })
    const work = new DisturbedWork(join(folder, 'lakes'), batches, await openRowCounter())
    const others = Object.keys(WRITE_OPERATIONS).filter(
      (name) => isWriteOperation(name) && name !== 'convert',
    )
    const chosen =
      typeof kinds === 'number'
        ? ['convert', ...shuffled(others, random)].slice(0, kinds).filter(isWriteOperation)
        : kinds
    for (const name of chosen) await work.#prepare(name)
    return work
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#counter.close()
    await this.#batches.remove()
    await rm(join(this.#folder, '..'), { recursive: true, force: true })
  }

  get batches(): Batches {
    return this.#batches
  }

  count(what: string): void {
    this.figures[what] = (this.figures[what] ?? 0) + 1
  }

  ground(name: WriteOperationName): Ground {
    const ground = this.grounds.get(name)
    if (ground) return ground
    throw new RangeError(`Cannot work on "${name}": it has no ground`)
  }

  /** A lake of its own to be disturbed in. */
  async lakeFor(name: WriteOperationName): Promise<string> {
    return this.#copyOf(this.ground(name).base)
  }

  async #copyOf(base: string): Promise<string> {
    this.#lakes += 1
    const lake = join(this.#folder, `lake-${this.#lakes}`)
    await cp(base, lake, { recursive: true }).catch(() => undefined)
    return lake
  }

  task(operation: WriteOperationName, fault: PlannedFault, lake: string): WriteTask {
    return { operation, lake, inputs: this.#batches, fault }
  }

  async #prepare(name: WriteOperationName): Promise<void> {
    const { base: make, run, state, rows } = WRITE_OPERATIONS[name]
    const base = join(this.#folder, `base of ${name}`)
    await make(base, this.#batches)
    const lake = await this.#copyOf(base)
    await run(lake, this.#batches)
    await gc(lake)
    const child = new DisturbedChild()
    const counted = await this.#copyOf(base)
    // Once to load what it works with, and once to measure.
    await child.run(this.task(name, COUNTING, await this.#copyOf(base)))
    const began = performance.now()
    const outcome = await child.run(this.task(name, COUNTING, counted))
    const workMs = performance.now() - began
    if (outcome.code !== 'done') throw new Error(`Cannot count the calls of ${name}: ${outcome.message}`)
    for (const kind of WRITE_FAULTS) this.figures[`calls of ${name}, ${kind}`] = outcome.of[kind]
    await rm(counted, { recursive: true })
    await child.end()
    this.grounds.set(name, {
      base,
      before: await state(base),
      after: await state(lake),
      rows: await rows?.(lake),
      files: await filesOf(lake),
      calls: outcome.of,
      workMs,
    })
    await rm(lake, { recursive: true })
  }

  /**
   * Looks at what disturbed work has left, does it again and looks again. The disturbed process has ended.
   *
   * @param done whether it said that it was done
   */
  async judge(name: WriteOperationName, lake: string, done: boolean, say: Say): Promise<void> {
    const ground = this.ground(name)
    const { run, state, rows } = WRITE_OPERATIONS[name]
    const seen = await state(lake)
    const isBefore = (at: number): boolean => seen[at] === ground.before[at]
    const isAfter = (at: number): boolean => seen[at] === ground.after[at]
    if (!seen.every((_, at) => isAfter(at) || (!done && isBefore(at))))
      say(`it shows neither what was before nor after${done ? ', and said that it was done' : ''}`)
    await this.#verify(lake, say, false)
    await run(lake, this.#batches)
    await gc(lake)
    const same = JSON.stringify(await state(lake)) === JSON.stringify(ground.after)
    if (!same && (rows === undefined || (await rows(lake)) !== ground.rows))
      say('done again it gives another lake')
    await this.#verify(lake, (problem) => say(`done again: ${problem}`), true)
    const files = await filesOf(lake)
    // What attempts at a run have left goes with the run, which stays as long as it is held back; whose was killed has not said so.
    const staysHeld = name === 'hold' || name === 'forget beside a held load'
    const ofRun = staysHeld ? /^_runs\/run\/(owner|\.tmp)|^_manifest\/parts\/part/ : /^$/
    const more = files.filter((path) => !ground.files.includes(path) && !ofRun.test(path))
    const less = ground.files.filter(
      (path) =>
        !files.includes(path) && !PUBLISHED_HASH.test(path) && !EMPTY_TABLE.test(path) && !ofRun.test(path),
    )
    if (more.length > 0) say(`gc leaves ${more}`)
    if (less.length > 0) say(`done again there is no ${less}`)
  }

  async #verify(lake: string, say: Say, strict: boolean): Promise<void> {
    const { countRows } = this.#counter
    const found = await verifyLake({ lake, countRows }).catch((error: unknown) => {
      // Stopped before its first commit there is no lake yet.
      if (!/LAKE_NOT_FOUND/.test(String(Object(error).code))) say(String(error))
    })
    for (const { path, problem } of found?.problems ?? []) say(`verify: ${path} ${problem}`)
    for (const note of found?.notes ?? [])
      if (strict && !EXPECTED.test(JSON.stringify(note))) say(`verify notes: ${JSON.stringify(note)}`)
  }
}

export const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
