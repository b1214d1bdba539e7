/** Batch files of the service as sources of a run: prefetched side by side, a bounded number at once. */

import type { Source } from '../../core/source.ts'
import { type JobOfRun, type RunFile, readRunFile, runFileText } from '../../manifest/runs/run-files.ts'
import { jobFolder, makeRunFolder } from '../../run/opened-job.ts'
import { badFile } from '../../run/work/known-sources.ts'
import { type FetchState, Prefetch } from '../../run/work/prefetch.ts'
import { openSourceFile } from '../../source/local-sources.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'
import { instantUntil } from '../../support/instants.ts'
import { anyText, fits, list, memberOf, objectOf } from '../../support/json-form.ts'
import { runBegan } from '../../support/run-ids.ts'
import {
  type BatchService,
  batchPath,
  type CheckedDownload,
  type DownloadLimits,
  fetchBatch,
  nameForDecoding,
  removeBatch,
} from './fetch-batch.ts'

interface BatchSourcesOptions {
  /** Files on the disk at once, arriving or waiting to be loaded. */
  readonly concurrency: number
  /** Most bytes of files that wait or arrive, by the listing; one file may be larger. @default 8 GiB */
  readonly aheadBytes?: number
  readonly limits: DownloadLimits
  /** Continues with the files after a damaged one. @default false */
  readonly skipBadFiles?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the bytes received of all files together, as they arrive. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

interface BatchSources {
  readonly sources: readonly Source[]
  /** Stops the prefetch, and waits for it. What was downloaded stays for another attempt. */
  readonly stop: () => Promise<void>
}

const AHEAD_BYTES = 8 * 1024 ** 3

const BATCH_FILES: RunFile = { name: 'batch-files.json', what: 'batch files' }

const FILES = list(objectOf({ id: anyText, name: anyText }))
const isList = (value: unknown): value is { readonly files: readonly ListedBatchFile[] } =>
  fits(FILES, memberOf(value, 'files'))

/** The list of files that a run is begun with. @param job its place among the jobs of the run */
export const batchFilesText = (
  files: readonly ListedBatchFile[],
  job = 0,
): readonly [name: string, text: string] => runFileText({ job }, BATCH_FILES, { files })

/** The files that a run was begun with. It keeps to them, whatever the listing says by then. */
export const filesOfRun = async (job: JobOfRun): Promise<readonly ListedBatchFile[] | undefined> =>
  (await readRunFile(job, BATCH_FILES, isList))?.files

/** Files of the service as sources; they are kept in the run's folder until they are loaded. */
export const openBatchSources = async (
  service: BatchService,
  job: JobOfRun,
  files: readonly ListedBatchFile[],
  options: BatchSourcesOptions,
): Promise<BatchSources> => {
  const folder = jobFolder(job, 'spool')
  await makeRunFolder(job, folder)
  const downloads = openDownloads(service, files, folder, options)
  return {
    sources: files.map((file, index) => batchSource(service.origin, file, index, job, downloads)),
    stop: () => downloads.stop(),
  }
}

type Downloads = Prefetch<CheckedDownload>

const batchSource = (
  service: string,
  file: ListedBatchFile,
  index: number,
  job: JobOfRun,
  downloads: Downloads,
): Source => {
  const { id, name, content, sizeBytes, createdAt = '' } = file
  const path = batchPath(jobFolder(job, 'spool'), file)
  // A date of the future is none: the file tells by itself of when it is.
  const asOf = instantUntil(createdAt, Date.parse(runBegan(job.run)))
  let checked: CheckedDownload | undefined
  return {
    kind: 'batch',
    name,
    decodeName: nameForDecoding(name),
    key: `${service} ${id}`,
    ...(content !== undefined && { content }),
    ...(asOf !== undefined && { asOf }),
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
    release: () => downloads.release(index, () => removeBatch(path)),
    stop: () => downloads.stop(),
  }
}

/** Files are begun behind the one that was asked for last: those before may have been loaded by an earlier attempt. */
const openDownloads = (
  service: BatchService,
  files: readonly ListedBatchFile[],
  folder: string,
  options: BatchSourcesOptions,
): Downloads => {
  const { concurrency, aheadBytes = AHEAD_BYTES, limits, skipBadFiles, signal, onBytes } = options
  const received: number[] = []
  return new Prefetch({
    count: files.length,
    fetch: async (index, stop) => {
      const file = files[index]
      if (file === undefined) throw new RangeError(`Cannot fetch file ${index}: there are ${files.length}`)
      return fetchBatch({
        ...{ service, file, path: batchPath(folder, file), limits, signal: stop },
        onBytes: (bytes) => {
          received[index] = bytes
          onBytes?.(received.reduce((sum, one = 0) => sum + one, 0))
        },
      })
    },
    next: (states, asked) => {
      const next = asked < 0 ? -1 : states.indexOf('waiting', asked)
      if (next < 0) return undefined
      const there = files.filter((_, at) => at === next || isThere(states[at]))
      const bytes = there.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0)
      return there.length > concurrency || (there.length > 1 && bytes > aheadBytes) ? undefined : next
    },
    goesOnAfter: (error) => skipBadFiles === true && badFile({ kind: 'batch' }, error) !== undefined,
    signal,
  })
}

/** On the disk, in part or whole. */
const isThere = (state: FetchState | undefined): boolean => state === 'fetching' || state === 'held'
