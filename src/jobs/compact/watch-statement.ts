/** What a compaction reports while it works. */

import type { Session } from '../../lake/duckdb/engine.ts'

export type CompactEvent =
  | { readonly kind: 'started'; readonly run: string }
  | CompactProgress
  | { readonly kind: 'committing'; readonly partitions: number }

/** How far a phase is: bytes of files that were checked, or rows of a table. */
export type CompactProgress =
  | {
      readonly kind: 'progress'
      readonly phase: 'checking'
      readonly bytes: number
      readonly of: number
    }
  | {
      readonly kind: 'progress'
      readonly phase: 'finding' | 'cutting' | 'sorting' | 'writing'
      readonly table: string
      readonly rows: number
      readonly of: number
    }

const EVERY_MS = 250

/** Polls the progress of a session's statement while one runs. @param onShare share of it, 0 to 1 */
export const watchStatement = async <T>(
  session: Session,
  onShare: (share: number) => void,
  run: () => Promise<T>,
): Promise<T> => {
  const timer = setInterval(() => onShare(session.progress()), EVERY_MS)
  try {
    return await run()
  } finally {
    clearInterval(timer)
  }
}
