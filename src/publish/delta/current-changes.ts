/**
 * What a snapshot of the lake changes in a table of current rows: files of its own, of which those are written again
 * that lost rows. A file without a current row has no copy.
 */

import { storageOf } from '../../storage/open-storage.ts'
import { sinceShown } from '../current/since-shown.ts'
import type { TableFile } from '../table-files.ts'
import { type AddedFile, addedFile } from './actions.ts'
import { copySource, sourceOfCopy, writeCopy } from './current-copies.ts'
import type { FindChanges, RemovedFile } from './table-changes.ts'

export const currentChanges: FindChanges = async (state, snapshot) => {
  const { context, table, log } = state
  const since = await sinceShown(snapshot, log.shown)
  const logged = [...(await log.files())].map(([name, file]): RemovedFile => ({ name, file }))
  const copies = Map.groupBy(logged, ({ name }) => sourceOfCopy(name))
  const removed: RemovedFile[] = since === null ? logged : []
  const files: AddedFile[] = []
  const asked = {
    ...{ table, snapshot, since: since?.since ?? 0 },
    always: ({ path }: TableFile) => since === null || since.added.has(path),
  }
  await context.superseded.count(asked, async (some) => {
    for (const counted of some) {
      context.signal?.throwIfAborted()
      const { file, superseded, fresh } = counted
      const before = since === null ? [] : (copies.get(copySource(file)) ?? [])
      if (before.length > 0 && fresh === 0) continue
      removed.push(...before)
      if (superseded < file.rows) files.push(addedFile(await writeCopy(state, counted)))
    }
  })
  const written = files.map(({ file }) => file.path)
  await storageOf(context.lake).sync(written)
  return { files, added: files.length, removed, always: true, written }
}
