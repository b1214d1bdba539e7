/** Windows as sources of a run: pulled ahead side by side, with a bounded number of files on the disk at once. */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { DateRange, WindowEntry } from '../../core/partition.ts'
import type { Source } from '../../core/source.ts'
import { openSourceFile } from '../../source/local-files.ts'
import { recordedSearch } from './recorded-search.ts'
import {
  type Checkpoint,
  fingerprintOf,
  forgetWindow,
  isWholeWindow,
  readCheckpoint,
  removeWindowFile,
} from './window-file.ts'

/** A window as a run works on it. */
export interface RunWindow {
  /** Unlike all others of the run. */
  readonly name: string
  /** What the manifest shows as its search. */
  readonly search: WindowEntry['search']
  readonly requested: DateRange['requested']
  /** It is still growing while others are pulled: begun when all before it are done. */
  readonly growing: boolean
  /** What it asks for is known only when all others are pulled. */
  readonly closing?: true
}

export interface WindowSourcesOptions {
  /** Folder of the files; there is one already. */
  readonly folder: string
  readonly content: Content
  /** Origin of the service. */
  readonly service: string
  readonly currency?: string | undefined
  /** Windows pulled at once. */
  readonly concurrency: number
  /** Windows on the disk that nobody has loaded yet, besides those being pulled. @default 2 */
  readonly ahead?: number
  /** Brings a window to its end in its file. */
  readonly pull: (index: number, path: string, signal: AbortSignal) => Promise<Checkpoint>
  readonly signal?: AbortSignal | undefined
}

export interface WindowSources {
  readonly sources: readonly Source[]
  /** What is known of each window, in order; absent where it was not pulled yet. */
  readonly checkpoints: () => readonly (Checkpoint | undefined)[]
  /** Stops what is being pulled ahead, and waits for it. */
  readonly stop: () => Promise<void>
}

export const windowPath = (folder: string, index: number): string =>
  join(folder, `${String(index).padStart(5, '0')}.jsonl`)

/** @param windows in the order of the manifest */
export const openWindowSources = async (
  windows: readonly RunWindow[],
  options: WindowSourcesOptions,
): Promise<WindowSources> => {
  const ahead = new Ahead(windows, options)
  await ahead.open()
  return {
    sources: windows.map((window, index) => windowSource(window, index, options, ahead)),
    checkpoints: () => ahead.checkpoints,
    stop: () => ahead.stop(),
  }
}

const windowSource = (
  { name, search, requested }: RunWindow,
  index: number,
  { folder, content, service, currency }: WindowSourcesOptions,
  ahead: Ahead,
): Source => {
  const path = windowPath(folder, index)
  return {
    kind: 'search',
    name,
    key: name,
    content,
    fingerprint: async (signal) => fingerprintOf(path, await ahead.get(index, signal)),
    open: (signal) => openSourceFile(path, { signal }),
    details: () => {
      const { announced, records, pages } = ahead.checkpoint(index)
      const counts = { announced, received: records, pages }
      return {
        window: {
          service,
          search: recordedSearch(search),
          ...(currency !== undefined && { currency }),
          ...counts,
        },
        requested,
      }
    },
    release: async () => {
      await removeWindowFile(path)
      ahead.release(index)
    },
    stop: () => ahead.stop(),
  }
}

type State = 'waiting' | 'pulling' | 'held' | 'released'

class Ahead {
  readonly checkpoints: (Checkpoint | undefined)[]
  readonly #windows: readonly RunWindow[]
  readonly #options: WindowSourcesOptions
  readonly #states: State[]
  readonly #pulls: (Promise<Checkpoint> | undefined)[] = []
  readonly #stopped = new AbortController()
  readonly #signal: AbortSignal
  readonly #heeded = new WeakSet<AbortSignal>()
  /** Windows that an earlier process had pulled to their end. */
  readonly #earlier = new Set<number>()
  #failed = false

  constructor(windows: readonly RunWindow[], options: WindowSourcesOptions) {
    this.#windows = windows
    this.#options = options
    this.#states = windows.map(() => 'waiting')
    this.checkpoints = windows.map(() => undefined)
    const signals = [this.#stopped.signal, ...(options.signal ? [options.signal] : [])]
    this.#signal = AbortSignal.any(signals)
  }

  /** Learns what an earlier process has pulled. */
  async open(): Promise<void> {
    for (const index of this.#windows.keys()) {
      const checkpoint = await readCheckpoint(windowPath(this.#options.folder, index))
      this.checkpoints[index] = checkpoint
      if (checkpoint?.sha256 !== undefined) this.#earlier.add(index)
    }
  }

  checkpoint(index: number): Checkpoint {
    const checkpoint = this.checkpoints[index]
    if (checkpoint !== undefined) return checkpoint
    throw new TypeError(`Cannot describe window ${index}: it was not pulled`)
  }

  /** The window when it is whole. What is asked for goes before what is pulled ahead. */
  async get(index: number, signal?: AbortSignal): Promise<Checkpoint> {
    signal?.throwIfAborted()
    // Whoever asks gives up only when the run ends: then nothing may be pulled any more.
    if (signal && !this.#heeded.has(signal)) signal.addEventListener('abort', () => void this.stop())
    if (signal) this.#heeded.add(signal)
    const pull = this.#pulls[index] ?? this.#start(index)
    this.#fill()
    try {
      return await this.#whole(index, await pull)
    } catch (error) {
      if (signal?.aborted) await this.stop()
      throw error
    }
  }

  /**
   * A window that an earlier process had pulled, compared before it is loaded. It is pulled again where its file was
   * damaged, or taken away because all of it was loaded, and what was loaded is damaged.
   */
  async #whole(index: number, checkpoint: Checkpoint): Promise<Checkpoint> {
    if (!this.#earlier.delete(index)) return checkpoint
    const path = windowPath(this.#options.folder, index)
    if (await isWholeWindow(path, checkpoint)) return checkpoint
    await forgetWindow(path)
    return this.#start(index)
  }

  release(index: number): void {
    this.#states[index] = 'released'
    this.#fill()
  }

  async stop(): Promise<void> {
    if (!this.#stopped.signal.aborted)
      this.#stopped.abort(new ToolkitError('INTERRUPTED', 'Cannot pull further windows: the run has ended'))
    await Promise.allSettled(this.#pulls)
  }

  #count(expected: State): number {
    return this.#states.filter((state) => state === expected).length
  }

  /** Whether windows that do not grow are being pulled. */
  #pullingComplete(): boolean {
    return this.#states.some((state, at) => state === 'pulling' && this.#windows[at]?.growing !== true)
  }

  #fill(): void {
    const { concurrency, ahead = 2 } = this.#options
    for (;;) {
      const next = this.#states.indexOf('waiting')
      if (next < 0 || this.#failed || this.#signal.aborted) return
      const pulling = this.#count('pulling')
      if (pulling >= concurrency || pulling + this.#count('held') >= concurrency + ahead) return
      // A record that changes meanwhile moves into a window that grows: pulled last, it still finds it.
      if (this.#windows[next]?.growing && this.#pullingComplete()) return
      if (this.#windows[next]?.closing && this.#pullingOthers()) return
      this.#start(next)
    }
  }

  /** Whether windows are being pulled that closing ones wait for; those stand behind all others. */
  #pullingOthers(): boolean {
    return this.#states.some((state, at) => state === 'pulling' && !this.#windows[at]?.closing)
  }

  #start(index: number): Promise<Checkpoint> {
    this.#states[index] = 'pulling'
    const pull = this.#pull(index)
    this.#pulls[index] = pull
    // Whoever needs the window hears of the failure; until then it must not count as unheard.
    pull.catch(() => undefined)
    return pull
  }

  async #pull(index: number): Promise<Checkpoint> {
    try {
      const path = windowPath(this.#options.folder, index)
      const checkpoint = await this.#options.pull(index, path, this.#signal)
      this.checkpoints[index] = checkpoint
      if (this.#states[index] === 'pulling') this.#states[index] = 'held'
      queueMicrotask(() => this.#fill())
      return checkpoint
    } catch (error) {
      this.#failed = true
      throw error
    }
  }
}
