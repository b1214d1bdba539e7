/** How far a fetch of a lake's files is, in a line. */

import type { FetchProgress } from '../storage/storage.ts'
import { formatBytes, formatCounted, formatShare } from './output/format.ts'

export const fetchText = ({ phase, files, filesTotal, bytes, bytesTotal }: FetchProgress): string =>
  `${phase === 'fetching' ? 'Fetching' : 'Checking'} ${files}/${formatCounted(filesTotal, 'file')}  ${formatShare(bytes, bytesTotal)}  ${formatBytes(bytes)}`

/** A first read of more than this is announced before it begins. */
const LONG_CHECK_BYTES = 10e9

/** The note when a long check of files begins. */
export const longCheckText = ({ phase, bytes, bytesTotal }: FetchProgress): string | undefined =>
  phase === 'checking' && bytes === 0 && bytesTotal > LONG_CHECK_BYTES
    ? `Comparing ${formatBytes(bytesTotal)} that this machine has not read before with their hashes; ` +
      '--unchecked compares lengths only'
    : undefined
