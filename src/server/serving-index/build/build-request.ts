/** What is asked of whoever builds a serving index, and what is told meanwhile. */

import type { Snapshot } from '../../../core/partition.ts'
import type { Embedder } from '../../ranking/embedder.ts'

export interface BuildIndexRequest {
  /** Folder of the lake. */
  readonly lake: string
  readonly snapshot: Snapshot
  /** SHA-256 of the snapshot's file. */
  readonly snapshotSha256: string
  /** Where the index is to stand. @default `_serve/<snapshot>` in the lake */
  readonly folder?: string | undefined
  /** DuckDB's memory in bytes; Node takes about 300 MiB beside it. */
  readonly memoryBytes: number
  /** @default 2 */
  readonly threads?: number | undefined
  readonly embedder: Embedder
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
}

export interface IndexProgress {
  /**
   * What is being made: documents of a kind, the tables of the search file, or the vectors of the texts; or `check`: the
   * search file of an index that is opened is hashed.
   */
  readonly step: 'companies' | 'relations' | 'minified' | 'tables' | 'embeddings' | 'check'
  /** Records done so far in this step; 0 as long as `tables` and `check` take. */
  readonly records: number
}
