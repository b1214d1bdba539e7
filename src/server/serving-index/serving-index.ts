/** An open serving index: read-only, locked down, shared by all requests. */

import type { Session } from '../../lake/duckdb/engine.ts'
import type { DocumentKind, DocumentPlace, IndexDescription } from './index-form.ts'

export interface ServingIndex {
  readonly description: IndexDescription
  /**
   * Runs queries on a session of its own; the index's tables stand in the attached database `copy`. After
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
