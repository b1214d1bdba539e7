/** An open serving copy: read-only, locked down, shared by all requests. */

import type { Session } from '../../lake/duckdb/engine.ts'
import type { CopyDescription, DocumentKind, DocumentPlace } from './index-form.ts'

export interface ServingCopy {
  readonly description: CopyDescription
  /**
   * Runs queries on a session of its own; the copy's tables stand in the attached database `copy`. After
   * `timeoutMs`, or when the signal fires, the running statement is interrupted and the promise fails.
   * @throws {ToolkitError} QUERY_FAILED when it took too long
   */
  query<T>(use: (session: Session) => Promise<T>, options: QueryOptions): Promise<T>
  /** Documents by their places, in that order, each without its line end. */
  documents(kind: DocumentKind, places: readonly DocumentPlace[]): Promise<readonly Buffer[]>
  close(): Promise<void>
}
export interface QueryOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}
