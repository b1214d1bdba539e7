/** Shows how the making of a serving index proceeds, for `serve` and `batches make`. */

import type { IndexProgress } from '../server/serving-index/build/build-request.ts'
import { formatCount } from '../support/format.ts'
import { note } from './output/print.ts'
import { ProgressLine } from './output/progress-line.ts'

const STEPS: Readonly<Record<IndexProgress['step'], string>> = {
  companies: 'Making the serving index: documents of companies',
  relations: 'Making the serving index: documents of relations',
  minified: 'Making the serving index: minified documents',
  tables: 'Making the serving index: search tables',
  embeddings: 'Making the serving index: vectors of texts',
  check: 'Checking the serving index',
}

/** Shows how far an index is; `clear` takes the line away. */
export const indexProgress = (): {
  readonly onProgress: (progress: IndexProgress) => void
  readonly onUnusable: (reason: Error) => void
  readonly clear: () => void
} => {
  const line = new ProgressLine()
  return {
    onProgress: ({ step, records }) =>
      line.show(() => `${STEPS[step]}${records > 0 ? `, ${formatCount(records)}` : ''}`),
    onUnusable: ({ message }) => {
      line.clear()
      note(`${message}. It is made again`)
    },
    clear: () => line.clear(),
  }
}
