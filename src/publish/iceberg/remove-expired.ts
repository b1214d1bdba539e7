/** What only expired snapshots used. */

import type { Storage } from '../../storage/storage.ts'
import { pathInLake } from './lake-paths.ts'
import { readManifestList } from './live-files.ts'
import type { TableMetadata } from './table-metadata.ts'
import type { TableBase } from './table-store.ts'

/**
 * Removes the manifests and lists of snapshots that a change has expired. What is not removed because of a crash is
 * only garbage.
 *
 * @param root the table's folder
 * @param before the table's metadata before the change
 */
export const removeExpired = async (
  storage: Storage,
  root: string,
  before: TableMetadata | null,
  expired: readonly number[],
  { metadata }: TableBase,
): Promise<void> => {
  if (expired.length === 0) return
  const gone = (before?.snapshots ?? []).filter((one) => expired.includes(one['snapshot-id']))
  const [first] = metadata?.snapshots ?? []
  if (first === undefined) return
  // A manifest that a table has let go never comes back: what the first snapshot left does not use no later one does.
  const used = new Set((await readManifestList(storage, root, first)).map((one) => one.manifest_path))
  const unused = new Set<string>()
  for (const snapshot of gone) {
    if (pathInLake(storage, snapshot['manifest-list']) === undefined) continue
    for (const { manifest_path } of await readManifestList(storage, root, snapshot))
      if (!used.has(manifest_path)) unused.add(manifest_path)
    unused.add(snapshot['manifest-list'])
  }
  await storage.remove([...unused].flatMap((absolute) => pathInLake(storage, absolute) ?? []))
}
