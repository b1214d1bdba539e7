/**
 * Notes behind a result: how a lake in a bucket was read, that its older versions are gone, and which columns and records it
 * does not hold.
 */

import type { Commit } from '../../core/partition.ts'
import type { AccessReport } from '../../lake/files/file-access.ts'
import { projectionText } from '../../lake/projection/projection.ts'
import { lackingProjections, newestProjection, type WithTaken } from '../../manifest/form/projections.ts'
import type { ChosenSnapshot } from '../../manifest/snapshots/held.ts'
import { formatBytes, formatCounted, formatInstant } from '../../support/format.ts'
import { note } from './print.ts'

/** `undefined` where nothing of a bucket was read. */
const accessText = (report: AccessReport): string | undefined => {
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
      `A compaction dropped past rows: the history is whole since ${formatInstant(begins.time)} (snapshot ${begins.snapshot}); what changed before is in older snapshots (--snapshot N) as long as gc keeps them`,
    )
}

export const takenLines = (root: WithTaken | null): string[] =>
  lackingProjections(root).map((take) => `Not all that came was taken: ${projectionText(take)}`)

/** The columns that the views of a lake compute. */
export const computedLines = (root: WithTaken | null): string[] => {
  const columns = Object.entries(newestProjection(root).compute ?? {})
  return columns.length === 0
    ? []
    : [`Computed columns: ${columns.map(([name, sql]) => `${name} = ${sql}`).join(', ')}`]
}

/** Published tables are the lake's own files. */
export const noteComputed = async (lake: string): Promise<void> => {
  const { rootIfAny } = await import('../../manifest/snapshots/snapshots.ts')
  const names = Object.keys(newestProjection(await rootIfAny(lake)).compute ?? {})
  if (names.length > 0) note(`note: Published tables have no computed columns: ${names.join(', ')}`)
}

/** On standard error. @param chosen @default the newest */
export const noteTaken = async (lake: string, chosen: ChosenSnapshot = {}): Promise<void> => {
  const { rootIfAny } = await import('../../manifest/snapshots/snapshots.ts')
  const { readChosenRoot } = await import('../../manifest/snapshots/held.ts')
  const isNewest = chosen.snapshot === undefined && !chosen.held
  const root = await (isNewest ? rootIfAny(lake) : readChosenRoot(lake, chosen))
  for (const line of takenLines(root)) note(`note: ${line}`)
}
