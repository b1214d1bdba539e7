/** How a lake was read, in notes behind the result: one in a bucket, and one whose older versions are gone. */

import type { Commit } from '../../core/partition.ts'
import type { AccessReport } from '../../lake/files/file-access.ts'
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
  return `Fetched ${formatBytes(fetchedBytes)} as copies of whole files. With DuckDB's extension httpfs only what is needed is read: name its file in FIRMLAKE_HTTPFS`
}

export const noteAccess = (report: AccessReport): void => {
  const text = accessText(report)
  if (text !== undefined) note(text)
}

export const noteHistory = (begins: Commit | undefined): void => {
  if (begins !== undefined)
    note(
      `A compaction left the current versions alone: history begins with snapshot ${begins.snapshot} of ${begins.time}; what changed before is in older snapshots (--snapshot N) as long as gc keeps them`,
    )
}
