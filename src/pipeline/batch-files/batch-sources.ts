/** Batch files of the service as sources of a run: downloaded ahead side by side, a bounded number at once. */

import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import { inLake, runPath } from '../../lake/lake/layout.ts'
import { createRunFile, type RunFile, readRunFile } from '../../manifest/run-files.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { openSourceFile } from '../../source/local-files.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { anyText, fits, list, memberOf, objectOf } from '../../support/json-form.ts'
import { badFile } from '../run/bad-files.ts'
import { nameForDecoding } from './check-batch-file.ts'
import {
  type BatchService,
  batchPath,
  type CheckedDownload,
  type DownloadLimits,
  fetchBatch,
  removeBatch,
} from './fetch-batch.ts'

export interface BatchSourcesOptions {
  /** Files on the disk at once, arriving or waiting to be loaded. */
  readonly concurrency: number
  /** Most bytes of files that wait or arrive, by the listing; one file may be larger. @default 8 GiB */
  readonly aheadBytes?: number
  readonly limits: DownloadLimits
  /** Goes on with the files behind one that is damaged. @default false */
  readonly skipBadFiles?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Told of the bytes in hand of all files together, as they come. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

export interface BatchSources {
  readonly sources: readonly Source[]
  /** Stops what is being downloaded ahead, and waits for it. What came of it stays for another try. */
  readonly stop: () => Promise<void>
}

const AHEAD_BYTES = 8 * 1024 ** 3

const BATCH_FILES: RunFile = { name: 'batch-files.json', what: 'the list of its files is' }

const FILES = list(objectOf({ id: anyText, name: anyText }))
const isFiles = (value: unknown): value is readonly ListedBatchFile[] => fits(FILES, value)

/** As it is stored; an earlier release stored the files alone. */
type FileList = { readonly files: readonly ListedBatchFile[] } | readonly ListedBatchFile[]

const isList = (value: unknown): value is FileList => isFiles(value) || isFiles(memberOf(value, 'files'))

/** The files that a run was begun with. A run that goes on keeps to them, whatever the listing says by then. */
export const filesOfRun = async (
  lease: RunLease,
  choose: () => Promise<readonly ListedBatchFile[]>,
): Promise<readonly ListedBatchFile[]> => {
  const stored = await readRunFile(lease, BATCH_FILES, isList)
  if (stored) return 'files' in stored ? stored.files : stored
  const files = await choose()
  await createRunFile(lease, BATCH_FILES, { files })
  return files
}

/** Files of the service as sources; they are kept in the run's folder until they are loaded. */
export const openBatchSources = async (
  service: BatchService,
  lease: RunLease,
  files: readonly ListedBatchFile[],
  options: BatchSourcesOptions,
): Promise<BatchSources> => {
  const folder = join(inLake(lease.lake, runPath(lease.run)), 'spool')
  try {
    await makeFolder(folder, { within: inLake(lease.lake, '') })
  } catch (error) {
    throw writeError(`Cannot make "${folder}"`, error)
  }
  const downloads = new Downloads(service, files, folder, options)
  return {
    sources: files.map((file, index) => batchSource(service.origin, file, index, folder, downloads)),
    stop: () => downloads.stop(),
  }
}

const batchSource = (
  service: string,
  file: ListedBatchFile,
  index: number,
  folder: string,
  downloads: Downloads,
): Source => {
  const { id, name, content, sizeBytes } = file
  const path = batchPath(folder, file)
  let checked: CheckedDownload | undefined
  return {
    kind: 'batch',
    name,
    decodeName: nameForDecoding(name),
    key: `${service} ${id}`,
    ...(content !== undefined && { content }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    fingerprint: async (signal) => {
      checked = await downloads.get(index, signal)
      return { bytes: checked.bytes, sha256: checked.sha256 }
    },
    open: (signal) => openSourceFile(path, { signal }),
    details: () => {
      const { etag, announced } = checked ?? {}
      return {
        batch: {
          ...{ service, id },
          ...(etag !== undefined && { etag }),
          ...(announced !== undefined && { announced }),
        },
      }
    },
    release: async () => {
      await downloads.settled(index)
      await removeBatch(path)
      downloads.release(index)
    },
    stop: () => downloads.stop(),
  }
}

type State = 'waiting' | 'held' | 'released'

class Downloads {
  readonly #service: BatchService
  readonly #files: readonly ListedBatchFile[]
  readonly #folder: string
  readonly #options: BatchSourcesOptions
  readonly #states: State[]
  readonly #fetches: (Promise<CheckedDownload> | undefined)[] = []
  readonly #received: number[] = []
  readonly #stopped = new AbortController()
  readonly #signal: AbortSignal
  #asked = -1
  #failed = false

  constructor(
    service: BatchService,
    files: readonly ListedBatchFile[],
    folder: string,
    options: BatchSourcesOptions,
  ) {
    this.#service = service
    this.#files = files
    this.#folder = folder
    this.#options = options
    this.#states = files.map(() => 'waiting')
    const { signal } = options
    this.#signal = signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal
  }

  /** A file when it is whole and sound. What is asked for goes before what is fetched ahead. */
  async get(index: number, signal?: AbortSignal): Promise<CheckedDownload> {
    signal?.throwIfAborted()
    // Whoever asks gives up only when the run ends: then nothing more need come.
    const giveUp = (): void => this.#stopped.abort(signal?.reason)
    signal?.addEventListener('abort', giveUp, { once: true })
    this.#asked = Math.max(this.#asked, index)
    const fetched = this.#fetches[index] ?? this.#start(index)
    this.#fill()
    try {
      return await fetched
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  /** Waits for a file that was fetched ahead but turned out not to be needed. */
  async settled(index: number): Promise<void> {
    await this.#fetches[index]?.catch(() => undefined)
  }

  release(index: number): void {
    this.#states[index] = 'released'
    this.#fill()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await Promise.allSettled(this.#fetches)
  }

  #fill(): void {
    const { concurrency, aheadBytes = AHEAD_BYTES } = this.#options
    for (;;) {
      // What stands before may have been loaded by an earlier try: then nobody asks for it.
      const next = this.#states.indexOf('waiting', this.#asked)
      if (this.#asked < 0 || next < 0 || this.#failed || this.#signal.aborted) return
      const held = this.#files.filter((_, at) => this.#states[at] === 'held' || at === next)
      const bytes = held.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0)
      if (held.length > concurrency || (held.length > 1 && bytes > aheadBytes)) return
      this.#start(next)
    }
  }

  #start(index: number): Promise<CheckedDownload> {
    this.#states[index] = 'held'
    const fetched = this.#fetch(index)
    // Its failure is told when it is asked for; nothing is begun after it.
    fetched.catch((error: unknown) => {
      this.#failed ||= !(this.#options.skipBadFiles && badFile({ kind: 'batch' }, error))
    })
    this.#fetches[index] = fetched
    return fetched
  }

  async #fetch(index: number): Promise<CheckedDownload> {
    const file = this.#files[index]
    if (file === undefined)
      throw new RangeError(`Cannot fetch file ${index}: there are ${this.#files.length}`)
    const { limits, onBytes } = this.#options
    return fetchBatch({
      service: this.#service,
      file,
      path: batchPath(this.#folder, file),
      limits,
      signal: this.#signal,
      onBytes: (bytes) => {
        this.#received[index] = bytes
        onBytes?.(this.#received.reduce((sum, one = 0) => sum + one, 0))
      },
    })
  }
}
