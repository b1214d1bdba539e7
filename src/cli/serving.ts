/** What `serve` and `batches make` share: how a serving copy's making is shown, and the settings of its engine. */

import { ToolkitError } from '../core/errors.ts'
import type { CopyProgress } from '../server/serving-index/build/build-index.ts'
import { formatCount } from './output/format.ts'
import { note } from './output/print.ts'
import { ProgressLine } from './output/progress-line.ts'

const MEBIBYTE = 1024 ** 2
/** Node with its modules, the pages being sent, and what DuckDB takes beside its limit. */
const NODE_BYTES = 320 * MEBIBYTE
const LEAST_ENGINE_BYTES = 128 * MEBIBYTE

/** DuckDB's part of the memory of a server. @throws {ToolkitError} USAGE when it is too little */
export const servingMemory = (totalBytes: number): number => {
  const bytes = totalBytes - NODE_BYTES
  if (bytes >= LEAST_ENGINE_BYTES) return bytes
  const least = (NODE_BYTES + LEAST_ENGINE_BYTES) / MEBIBYTE
  throw new ToolkitError(
    'USAGE',
    `Cannot serve in --memory of ${Math.floor(totalBytes / MEBIBYTE)}MiB: expected at least ${least}MiB`,
  )
}

const STEPS: Readonly<Record<CopyProgress['step'], string>> = {
  companies: 'Making the serving copy: documents of companies',
  relations: 'Making the serving copy: documents of relations',
  minified: 'Making the serving copy: minified documents',
  tables: 'Making the serving copy: search tables',
  embeddings: 'Making the serving copy: vectors of texts',
  check: 'Checking the serving copy',
}

/** Shows how far a copy is; `clear` takes the line away. */
export const copyProgress = (): {
  readonly onProgress: (progress: CopyProgress) => void
  readonly onUnusable: (reason: Error) => void
  readonly clear: () => void
} => {
  const line = new ProgressLine()
  return {
    onProgress: ({ step, records }) =>
      line.show(() => `${STEPS[step]}${records > 0 ? `, ${formatCount(records)}` : ''}`),
    onUnusable: ({ message }) => {
      line.clear()
      note(`${message}. It is made anew`)
    },
    clear: () => line.clear(),
  }
}
