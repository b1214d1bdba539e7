/**
 * A lake put back into the format of an earlier release, as docs/operations.md says, by that release's own writer. What later
 * ones say besides is lost: which ids were forgotten, so this comes before any forget.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { takeBackUpgrade, upgrade } from '../../src/jobs/upgrade.ts'
import { recordPath, snapshotPath } from '../../src/lake/lake/layout.ts'
import { removeGarbage } from '../../src/manifest/remove-garbage.ts'
import { recordText } from '../../src/manifest/snapshot-text.ts'
import { newestNumber, readSnapshot } from '../../src/manifest/snapshots.ts'
import { snapshotToText } from '../manifest/write-text-snapshot.ts'
import type { ExpectedLake } from './year-expected.ts'

/** Its newest snapshot is one text then, and the only one. */
export const makeOlder = async (lake: string): Promise<void> => {
  await removeGarbage({ lake, now: new Date(), keep: 1 })
  const newest = await readSnapshot(lake)
  const bytes = Buffer.from(snapshotToText(newest))
  await writeFile(join(lake, snapshotPath(newest.snapshot)), bytes)
  await writeFile(join(lake, recordPath(newest.snapshot)), recordText(newest.snapshot, bytes))
  await removeGarbage({ lake, now: new Date() })
}

/** A lake of the earlier format is upgraded, that is taken back, and it is upgraded for good. @returns what was wrong */
export const upgradeOlder = async (lake: string, expected: ExpectedLake): Promise<readonly string[]> => {
  await makeOlder(lake)
  const kinds = [(await upgrade({ lake })).kind]
  const { snapshot } = await takeBackUpgrade({ lake })
  kinds.push((await upgrade({ lake })).kind, (await upgrade({ lake })).kind)
  const wrong = String(kinds) === 'upgraded,upgraded,nothing' ? [] : [`the upgrades were: ${kinds}`]
  if (snapshot !== expected.snapshot) wrong.push(`an upgrade was taken back to ${snapshot}`)
  expected.snapshot = await newestNumber(lake)
  return wrong
}
