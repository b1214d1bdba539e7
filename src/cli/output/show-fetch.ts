/**
 * The progress of fetched and checked files, in a line. Loads none of what fetches them: commands import it before they
 * run.
 */

import type { FetchProgress } from '../../storage/storage.ts'
import { formatBytes, formatCounted } from '../../support/format.ts'
import type { ProgressLine } from './progress-line.ts'

/** Shows how far a fetch and check of files is, and says before a long check that it will be one. */
export const showFetch =
  (line: ProgressLine) =>
  (progress: FetchProgress): void => {
    const long = longCheckText(progress)
    if (long !== undefined && progress.files === 0) line.log(long)
    const { phase, bytes, bytesTotal } = progress
    line.show(() => fetchText(progress), { amount: { done: bytes, total: bytesTotal, part: phase } })
  }

const fetchText = ({ phase, files, filesTotal, bytes }: FetchProgress): string =>
  `${phase === 'fetching' ? 'Fetching' : 'Checking'} ${files}/${formatCounted(filesTotal, 'file')}  ${formatBytes(bytes)}`

/** A first read of more than this is announced before it begins. */
const LONG_CHECK_BYTES = 10e9

/** The note when a long check of files begins. */
export const longCheckText = ({ phase, bytes, bytesTotal }: FetchProgress): string | undefined =>
  phase === 'checking' && bytes === 0 && bytesTotal > LONG_CHECK_BYTES
    ? `Comparing ${formatBytes(bytesTotal)} that this machine has not read before with their hashes; ` +
      '--unchecked compares lengths only'
    : undefined
