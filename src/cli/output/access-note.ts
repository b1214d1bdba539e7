/** How a lake in a bucket was read, in a note behind the result. */

import type { AccessReport } from '../../lake/lake/file-access.ts'
import { formatBytes, formatCounted } from './format.ts'
import { note } from './print.ts'

/** `undefined` where nothing of a bucket was read. */
export const accessText = (report: AccessReport): string | undefined => {
  if (report.kind === 'in place') {
    const { files, requests, bytes } = report
    if (requests === 0) return undefined
    return `Read in place, not hashed: ${formatBytes(bytes)} of ${formatCounted(files, 'file')} in ${formatCounted(requests, 'request')}; --checked reads copies that are compared with their hashes`
  }
  const { fetchedBytes, withoutHttpfs } = report
  if (fetchedBytes === 0 || withoutHttpfs === undefined) return undefined
  return `Fetched ${formatBytes(fetchedBytes)} as copies of whole files. With DuckDB's extension httpfs only what is needed is read: name its file by --httpfs or FIRMLAKE_HTTPFS, or give --install-extensions`
}

export const noteAccess = (report: AccessReport): void => {
  const text = accessText(report)
  if (text !== undefined) note(text)
}
