/** A lake put back into the format of an earlier release, as docs/operations.md says, by that release's own writer. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordPath, snapshotPath } from '../../src/lake/lake/layout.ts'
import { removeGarbage } from '../../src/manifest/remove-garbage.ts'
import { recordText } from '../../src/manifest/snapshot-text.ts'
import { readSnapshot } from '../../src/manifest/snapshots.ts'
import { snapshotToText } from '../manifest/write-text-snapshot.ts'

/** Its newest snapshot is one text then, and the only one. */
export const makeOlder = async (lake: string): Promise<void> => {
  await removeGarbage({ lake, now: new Date(), keep: 1 })
  const newest = await readSnapshot(lake)
  const bytes = Buffer.from(snapshotToText(newest))
  await writeFile(join(lake, snapshotPath(newest.snapshot)), bytes)
  await writeFile(join(lake, recordPath(newest.snapshot)), recordText(newest.snapshot, bytes))
  await removeGarbage({ lake, now: new Date() })
}
