/** What the process that builds an index and the one that waits for it say to each other. */

import type { CurrentIndexRequest } from './current-index.ts'

/** What is to be built; the embedder follows from the environment, which both have. */
export type BuildTask = Required<Pick<CurrentIndexRequest, 'lake' | 'memoryBytes'>> & {
  readonly snapshot: number
  readonly threads: number | undefined
}

export type BuildAnswer =
  | { readonly kind: 'built' }
  /** The index that was there is of no use, and is made again. */
  | { readonly kind: 'unusable'; readonly message: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
