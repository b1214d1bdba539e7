/** How far a fetch from a bucket is, in a line. */

import type { FetchProgress } from '../storage/storage.ts'
import { formatBytes, formatCounted, formatShare } from './format.ts'

export const fetchText = ({ files, filesTotal, bytes, bytesTotal }: FetchProgress): string =>
  `Fetching ${files}/${formatCounted(filesTotal, 'file')}  ${formatShare(bytes, bytesTotal)}  ${formatBytes(bytes)}`
