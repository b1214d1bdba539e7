/** The request for a serving index, its progress, and the messages between the process that builds it and the one that waits. */

import type { Snapshot } from '../../../core/partition.ts'
import type { Embedder } from '../../ranking/embedder.ts'

export interface BuildIndexRequest {
  /** Folder of the lake. */
  readonly lake: string
  readonly snapshot: Snapshot
  /** SHA-256 of the snapshot's file. */
  readonly snapshotSha256: string
  /** Folder of the index. @default `_serve/<snapshot>` in the lake */
  readonly folder?: string | undefined
  /** DuckDB's memory in bytes; Node takes about 300 MiB beside it. */
  readonly memoryBytes: number
  /** @default 2 */
  readonly threads?: number | undefined
  /** Makes the vectors of texts. @default none: the index has no vectors */
  readonly embedder?: Embedder | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
}

export interface IndexProgress {
  /**
   * The step at work: documents of a kind, the tables of the search file, or the vectors of the texts; or `check`: the
   * search file of an index that is opened is hashed.
   */
  readonly step: 'companies' | 'relations' | 'minified' | 'tables' | 'embeddings' | 'check'
  /** Records done so far in this step; 0 as long as `tables` and `check` take. */
  readonly records: number
}

/** The index to build; the embedder follows from the environment, which both have. */
export type BuildTask = Pick<BuildIndexRequest, 'lake' | 'memoryBytes'> & {
  readonly snapshot: number
  readonly threads: number | undefined
}

export type BuildAnswer =
  | { readonly kind: 'built' }
  /** The index that was there is of no use, and is made again. */
  | { readonly kind: 'unusable'; readonly message: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
