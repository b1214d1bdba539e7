/** Records of others that tell of the forgotten in what the contract does not know: in the column `extra` of their tables. */

import { ownerOf } from '../../check/quarantine/refuse-lines.ts'
import { cutByBytes } from '../../lake/files/files-in-turn.ts'
import { mainTables } from '../../lake/tables/tables.ts'
import type { LeftInFile } from '../../manifest/form/forgotten.ts'
import { withoutForgotten } from './clean-record.ts'
import { type FoundIds, heldAt, pathsSql } from './find-held.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'
import type { Identifiers } from './identifiers.ts'
import { restoredTexts } from './restored-texts.ts'

const FILES_AT_ONCE = 256

/** A record that may tell of them. */
interface Suspect {
  /** Of its row. */
  readonly path: string
  /** Ids of theirs that stand in it. */
  readonly ids: readonly bigint[]
}

/** Records whose `extra` has something of theirs, by their ids. */
const suspectsIn = async (
  work: ForgetWork,
  place: number,
  { standIn, idStandsIn, idsIn }: Identifiers,
): Promise<ReadonlyMap<bigint, Suspect>> => {
  const { snapshot, session, localBytes, signal } = work
  const suspects = new Map<bigint, Suspect>()
  const partition = snapshot.partitions[place]
  const main = mainTables().find(({ content }) => content === partition?.content)
  const files = partition?.files.filter(({ table, rows }) => table === main?.name && rows > 0) ?? []
  for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE))
    await withLakeFiles(work, group, async (placeOf) => {
      const rows = session.stream(`SELECT internal_id, extra, file_index::INTEGER AS file
FROM read_parquet(${pathsSql(group.map(({ path }) => placeOf(path)))}, union_by_name = true, hive_partitioning = false)
WHERE extra IS NOT NULL`)
      for await (const some of rows) {
        signal?.throwIfAborted()
        for (const { internal_id: id, extra, file } of some) {
          const text = String(extra)
          if (idStandsIn(text) || standIn(text))
            suspects.set(BigInt(String(id)), { path: group[Number(file)]?.path ?? '', ids: idsIn(text) })
        }
      }
    })
  return suspects
}

/**
 * Adds the records that are to be written again to what is held, and ids that stand in what goes to those that are known.
 *
 * @returns what stays because nobody can decide on it, by file
 */
export const findTold = async (
  work: ForgetWork,
  { held, known }: FoundIds,
  identifiers: Identifiers,
): Promise<readonly LeftInFile[]> => {
  const { snapshot, isEntity } = work
  const left = new Map<string, LeftInFile>()
  for (const [place, partition] of snapshot.partitions.entries()) {
    const { content } = partition
    const suspects = await suspectsIn(work, place, identifiers)
    const ids = [...suspects.keys()].filter((id) => !held.get(place)?.removed.has(id))
    if (ids.length === 0) continue
    for await (const text of restoredTexts(work, partition, ids)) {
      const cleaned = withoutForgotten(content, text, { isEntity, identifiers })
      const id = ownerOf(content, text)
      const suspect = id === undefined ? undefined : suspects.get(id)
      if (id === undefined || suspect === undefined) continue
      const { path } = suspect
      if (cleaned.isChanged) {
        heldAt(held, place).changed.add(id)
        for (const one of suspect.ids) known.add(one)
      }
      if (cleaned.left === 0) continue
      left.set(path, { kind: content, path, values: (left.get(path)?.values ?? 0) + cleaned.left })
    }
  }
  return [...left.values()]
}
