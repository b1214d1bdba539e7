/** Windows as sources of a run: prefetched side by side, with a bounded number of files on the disk at once. */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { DateRange } from '../../core/partition.ts'
import type { Source } from '../../core/source.ts'
import type { WindowEntry } from '../../core/source-kinds.ts'
import { recordedSearch } from '../../manifest/form/sources.ts'
import { type FetchState, Prefetch } from '../../run/work/prefetch.ts'
import { openSourceFile } from '../../source/local-sources.ts'
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
  /** The search that the manifest shows. */
  readonly search: WindowEntry['search']
  readonly requested: DateRange['requested']
  /** The window is still growing while others are pulled: begun when all before it are done. */
  readonly growing: boolean
  /** The window's ids are known only when all others are pulled. */
  readonly closing?: true
}

interface WindowSourcesOptions {
  /** Folder of the files; there is one already. */
  readonly folder: string
  readonly content: Content
  /** Origin of the service. */
  readonly service: string
  readonly currency?: string | undefined
  /** Windows pulled at once. */
  readonly concurrency: number
  /** Windows on the disk that are not loaded yet, in addition to those being pulled. @default 2 */
  readonly ahead?: number
  /** Brings a window to its end in its file. */
  readonly pull: (index: number, path: string, signal: AbortSignal) => Promise<Checkpoint>
  readonly signal?: AbortSignal | undefined
}

export interface WindowSources {
  readonly sources: readonly Source[]
  /** Stops the prefetch, and waits for it. */
  readonly stop: () => Promise<void>
}

export const windowPath = (folder: string, index: number): string =>
  join(folder, `${String(index).padStart(5, '0')}.jsonl`)

/** @param windows in the order of the manifest */
export const openWindowSources = async (
  windows: readonly RunWindow[],
  options: WindowSourcesOptions,
): Promise<WindowSources> => {
  const known = new Windows(windows, options)
  await known.open()
  return {
    sources: windows.map((window, index) => windowSource(window, index, options, known)),
    stop: () => known.stop(),
  }
}

const windowSource = (
  { name, search, requested }: RunWindow,
  index: number,
  { folder, content, service, currency }: WindowSourcesOptions,
  windows: Windows,
): Source => {
  const path = windowPath(folder, index)
  return {
    kind: 'search',
    name,
    key: name,
    content,
    fingerprint: async (signal) => fingerprintOf(path, await windows.get(index, signal)),
    open: (signal) => openSourceFile(path, { signal }),
    details: () => {
      const { announced, records, pages, lastAsOf } = windows.checkpoint(index)
      const counts = { announced, received: records, pages }
      return {
        window: {
          service,
          search: recordedSearch(search),
          ...(currency !== undefined && { currency }),
          ...counts,
        },
        requested,
        ...(lastAsOf !== null && { asOf: lastAsOf }),
      }
    },
    release: () => windows.release(index),
    stop: () => windows.stop(),
  }
}

/** The checkpoints of the windows, and the windows that are pulled. */
class Windows {
  readonly #checkpoints: (Checkpoint | undefined)[]
  readonly #folder: string
  readonly #pulls: Prefetch<Checkpoint>
  /** Windows that an earlier process had pulled to their end. */
  readonly #earlier = new Set<number>()

  constructor(windows: readonly RunWindow[], options: WindowSourcesOptions) {
    this.#folder = options.folder
    this.#checkpoints = windows.map(() => undefined)
    this.#pulls = new Prefetch({
      count: windows.length,
      fetch: async (index, signal) => {
        const checkpoint = await options.pull(index, windowPath(this.#folder, index), signal)
        this.#checkpoints[index] = checkpoint
        return checkpoint
      },
      next: (states) => nextWindow(states, windows, options),
      signal: options.signal,
      stopReason: () => new ToolkitError('INTERRUPTED', 'Cannot pull further windows: the run has ended'),
    })
  }

  /** Learns what an earlier process has pulled. */
  async open(): Promise<void> {
    for (const index of this.#checkpoints.keys()) {
      const checkpoint = await readCheckpoint(windowPath(this.#folder, index))
      this.#checkpoints[index] = checkpoint
      if (checkpoint?.sha256 !== undefined) this.#earlier.add(index)
    }
  }

  checkpoint(index: number): Checkpoint {
    const checkpoint = this.#checkpoints[index]
    if (checkpoint !== undefined) return checkpoint
    throw new TypeError(`Cannot describe window ${index}: it was not pulled`)
  }

  /**
   * A window when it is whole. One that an earlier process had pulled is compared before it is loaded: it is pulled
   * again where its file was damaged, or taken away because all of it was loaded, and what was loaded is damaged.
   */
  async get(index: number, signal?: AbortSignal): Promise<Checkpoint> {
    const checkpoint = await this.#pulls.get(index, signal)
    if (!this.#earlier.delete(index)) return checkpoint
    const path = windowPath(this.#folder, index)
    if (await isWholeWindow(path, checkpoint)) return checkpoint
    await forgetWindow(path)
    return this.#pulls.getAnew(index, signal)
  }

  release(index: number): Promise<void> {
    return this.#pulls.release(index, () => removeWindowFile(windowPath(this.#folder, index)))
  }

  stop(): Promise<void> {
    return this.#pulls.stop()
  }
}

/** The window to pull next, where there is room for it. */
const nextWindow = (
  states: readonly FetchState[],
  windows: readonly RunWindow[],
  { concurrency, ahead = 2 }: WindowSourcesOptions,
): number | undefined => {
  const next = states.indexOf('waiting')
  const pulling = windows.filter((_, at) => states[at] === 'fetching')
  const held = states.filter((state) => state === 'held').length
  if (next < 0 || pulling.length >= concurrency || pulling.length + held >= concurrency + ahead)
    return undefined
  // A record that changes meanwhile moves into a window that grows: pulled last, it still finds it.
  if (windows[next]?.growing && pulling.some(({ growing }) => !growing)) return undefined
  // Closing windows wait for all others, behind which they stand.
  if (windows[next]?.closing && pulling.some(({ closing }) => !closing)) return undefined
  return next
}
