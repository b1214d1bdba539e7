/** Serves a snapshot of a lake, or always the newest one: puts the serving index, the rates, the embedder and the searches behind HTTP. */

import { randomBytes } from 'node:crypto'
import { ToolkitError } from '../core/errors.ts'
import type { TokenRegistry } from './access/choose-tokens.ts'
import { newSessions } from './access/sessions.ts'
import { openBatchStore } from './batch-files/batch-store.ts'
import { newExplorer } from './explorer/explorer.ts'
import { openWebFiles } from './explorer/pages/web-files.ts'
import { faultLayer } from './faults/fault-layer.ts'
import type { FaultRule } from './faults/fault-rules.ts'
import { type FollowEvents, type FollowRequest, followLake } from './follow-lake.ts'
import { openServer } from './http/open-server.ts'
import type { RunningServer, ServerOptions } from './http/server-parts.ts'
import type { Embedder } from './ranking/embedder.ts'
import { type HoldTimes, openSnapshot, type SearchSettings, ServedSnapshots } from './served-snapshots.ts'
import { buildAside } from './serving-index/build/build-aside.ts'
import { indexFolder } from './serving-index/build/build-index.ts'
import type { IndexProgress } from './serving-index/build/build-request.ts'
import { currentIndex } from './serving-index/build/current-index.ts'
import { openIndex } from './serving-index/open-index.ts'
import { attachSegments } from './serving-index/segment-views.ts'

export interface ServeLakeRequest {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  readonly threads?: number | undefined
  /** Stops the making of a serving index. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
  /** Called with why the serving index in the lake cannot be used, before it is made again. */
  readonly onUnusable?: ((reason: Error) => void) | undefined
  /** Moves to each newer snapshot. @default none: the server keeps its snapshot */
  readonly follow?: FollowSettings | undefined
  readonly tokens: TokenRegistry
  readonly embedder?: Embedder | undefined
  /** Secret that signs cursors, at least 32 bytes. */
  readonly cursorKey: Buffer
  /** Companies that one cursor chain may deliver. */
  readonly cursorCap: number
  /** Longest time of one query, in milliseconds. */
  readonly queryTimeoutMs: number
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly faults?: readonly FaultRule[]
  readonly http: ServerOptions
}

export interface FollowSettings extends FollowEvents, Partial<HoldTimes> {
  /** Milliseconds between two looks for a newer snapshot. @default 10,000 */
  readonly everyMs?: number
  /** Builds the index of a snapshot where there is none. @default a process of its own */
  readonly build?: FollowRequest['build']
}

export interface LakeServer extends RunningServer {
  /** Number of the snapshot that is served. */
  readonly snapshot: number
}

const FOLLOW_EVERY_MS = 10_000

/** The explorer's share of the memory: a quarter, where that leaves enough for the indexes; in bytes. */
const EXPLORER_SHARE = 1 / 4
const MIN_EXPLORER_BYTES = 96 * 1024 ** 2
const MIN_INDEX_BYTES = 128 * 1024 ** 2

/** Two indexes are open while chains go on over the one before. */
const indexesOf = ({ follow }: ServeLakeRequest): number => (follow === undefined ? 1 : 2)

/** 0 where there is not enough: the interface takes precedence. */
const memoryOfExplorer = (request: ServeLakeRequest): number => {
  const bytes = Math.max(MIN_EXPLORER_BYTES, Math.floor(request.memoryBytes * EXPLORER_SHARE))
  return request.memoryBytes - bytes >= indexesOf(request) * MIN_INDEX_BYTES ? bytes : 0
}

const memoryOfIndex = (request: ServeLakeRequest): number =>
  Math.floor((request.memoryBytes - memoryOfExplorer(request)) / indexesOf(request))

const settingsOf = (request: ServeLakeRequest): SearchSettings => {
  const { lake, embedder, cursorKey, cursorCap, queryTimeoutMs } = request
  return { lake, embedder, cursorKey, cursorCap, queryTimeoutMs }
}

/** Follows the lake until the function that it gives is called. */
const startFollowing = (
  served: ServedSnapshots,
  request: ServeLakeRequest,
  { everyMs = FOLLOW_EVERY_MS, build, onMove, onFollowError }: FollowSettings,
): (() => Promise<void>) => {
  const { lake, memoryBytes, threads, onUnusable } = request
  const stop = new AbortController()
  const following = followLake(
    served,
    {
      ...{ lake, everyMs, onMove, onFollowError },
      build:
        build ??
        ((snapshot, signal) => buildAside({ lake, snapshot, memoryBytes, threads }, signal, onUnusable)),
      open: async (snapshot) => {
        const folder = indexFolder(lake, snapshot)
        const index = await openIndex({ folder, memoryBytes: memoryOfIndex(request), threads })
        return openSnapshot(index, settingsOf(request))
      },
    },
    stop.signal,
  )
  return () => {
    stop.abort()
    return following
  }
}

/**
 * Opens the snapshot's serving index, which is made first where there is none, and listens.
 *
 * @throws {ToolkitError} what opening the index and reading the rates throws; LISTEN_FAILED
 */
export const serveLake = async (request: ServeLakeRequest): Promise<LakeServer> => {
  const { lake, follow, tokens, faults = [], http } = request
  const index = await currentIndex({ ...request, servingBytes: memoryOfIndex(request) })
  const served = new ServedSnapshots(await openSnapshot(index, settingsOf(request)), follow)
  const explorer = newExplorer({
    ...{ lake, threads: request.threads, timeoutMs: request.queryTimeoutMs },
    memoryBytes: memoryOfExplorer(request),
    served: () => served.current.number,
    attachIndex: async (session, snapshot) => {
      const { number, segments } = served.current
      if (number !== snapshot)
        throw new ToolkitError(
          'QUERY_FAILED',
          `Cannot list the companies of snapshot ${snapshot}: snapshot ${number} is served by now`,
          { snapshot },
        )
      await attachSegments(session, indexFolder(lake, snapshot), segments)
    },
  })
  try {
    const server = await openServer(
      {
        served: () => served.current,
        tokens,
        sessions: newSessions(tokens, randomBytes),
        companies: served.search('companies'),
        relations: served.search('relations'),
        batches: openBatchStore(lake, () => served.current.protectedDigest),
        askExplorer: explorer.ask,
        webFile: openWebFiles(),
        layers: faults.length > 0 ? [faultLayer(faults)] : [],
      },
      http,
    )
    const stopFollowing = follow && startFollowing(served, request, follow)
    return {
      get snapshot() {
        return served.current.number
      },
      address: server.address,
      close: async () => {
        await Promise.all([server.close(), stopFollowing?.()])
        await Promise.all([served.close(), explorer.close()])
      },
    }
  } catch (error) {
    await served.close()
    throw error
  }
}
