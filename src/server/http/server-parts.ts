/** Parts handed to the HTTP side, which knows no lake and no DuckDB. */

import type { FastifyInstance } from 'fastify'
import type { Operation } from '../../contract/requests.ts'
import type { Caller } from '../access/caller.ts'
import type { TokenEntry, TokenRegistry } from '../access/choose-tokens.ts'
import type { Sessions } from '../access/sessions.ts'
import type { BatchStore } from '../batch-files/batch-store.ts'
import type { AskExplorer } from '../explorer/explorer.ts'
import type { WebFile, WebFileName } from '../explorer/pages/web-files.ts'
import type { Answer } from '../search/shared/answer.ts'

/** Answers a search; `body` is the request's body as it came. */
export type Search = (body: string, caller: Caller, signal: AbortSignal) => Promise<Answer>

/** The snapshot that is served at the moment. */
export interface ServedSnapshot {
  readonly number: number
  /** Country codes of its companies. */
  readonly countries: readonly string[]
}

export interface ServerParts {
  readonly served: () => ServedSnapshot
  readonly tokens: TokenRegistry
  readonly sessions: Sessions
  readonly companies: Search
  readonly relations: Search
  readonly batches: BatchStore
  readonly askExplorer: AskExplorer
  readonly webFile: (name: WebFileName) => Promise<WebFile>
  /** Layers around the routes, added before them: each may answer a request, or change its answer. @default none */
  readonly layers?: readonly ((app: FastifyInstance) => void)[]
}

export interface ServerOptions {
  /** @default 127.0.0.1 */
  readonly host?: string
  /** 0: any free one. */
  readonly port: number
  /** Proxies whose `X-Forwarded-For` says who asks: addresses, networks as `10.0.0.0/8`. @default none */
  readonly proxies?: readonly string[] | undefined
  /** Each has its default in `SERVER_LIMITS`. */
  readonly bodyLimitBytes?: number
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  readonly stallTimeoutMs?: number
  readonly stopTimeoutMs?: number
  readonly maxConnections?: number | undefined
  readonly requestsAtOnce?: number
  /** Requests a second of each token that has no limit of its own. @default none */
  readonly requestsPerSecond?: number | undefined
  /** Target of the access log, a line of JSON a request. @default nowhere */
  readonly log?: { write(line: string): void }
}

export interface RunningServer {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  /** Stops accepting, lets requests under way end within `stopTimeoutMs`, ends the others. */
  close(): Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the routes of the interface that need a token. */
    readonly operation?: Operation
    /** Set on other routes that need one, or a session in its place. */
    readonly needsToken?: 'token' | 'token or session'
  }
  interface FastifyRequest {
    /** Who asks; `null` before the token is checked and where none is needed. */
    entry: TokenEntry | null
  }
}
