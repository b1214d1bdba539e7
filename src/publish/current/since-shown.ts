/** What has happened to a table since the snapshot that its published rows show. */

import type { ShownSnapshot, TableInSnapshot } from '../listed-table.ts'
import type { FileChanges, TableFile } from '../table-files.ts'

/** Files were only added: their versions, from `since` on, have superseded rows of those before. */
export interface SinceShown {
  readonly since: number
  /** The table's new files, by their paths in the lake. */
  readonly added: ReadonlySet<string>
}

/** Files that came; `null` where others went. */
const onlyAdded = (changes: FileChanges | null): readonly TableFile[] | null =>
  changes === null || changes.removed.length > 0 ? null : changes.added

const leastVersion = (files: readonly TableFile[]): number =>
  files.reduce((least, { version }) => Math.min(least, version), Number.POSITIVE_INFINITY)

/**
 * @returns `null` where the table has to be made from all that the snapshot lists: nothing is shown yet, the snapshot that
 *   is shown is not kept, or files are gone, as after a compaction
 */
export const sinceShown = async (
  snapshot: TableInSnapshot,
  shown: ShownSnapshot | null,
): Promise<SinceShown | null> => {
  const added = shown && onlyAdded(await snapshot.changesSince(shown))
  const main = shown && onlyAdded(await snapshot.main.changesSince(shown))
  const listings = shown && onlyAdded(await snapshot.listings.changesSince(shown))
  if (!added || !main || !listings) return null
  const deciding = [...main, ...listings]
  const since = leastVersion(deciding)
  if (since === Number.POSITIVE_INFINITY)
    return { since: Number.MAX_SAFE_INTEGER, added: new Set(added.map(({ path }) => path)) }
  const paths = new Set(deciding.map(({ path }) => path))
  const files = [...(await snapshot.main.files()), ...(await snapshot.listings.files())]
  if (files.some(({ path, version }) => version >= since && !paths.has(path))) return null
  return { since, added: new Set(added.map(({ path }) => path)) }
}
