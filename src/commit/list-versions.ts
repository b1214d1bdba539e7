/** The rule of versions: which records a run supersedes, and of which of its records the lake had newer data. */

import type { CommitRule } from './commit-rule.ts'
import { confirmedGone } from './confirmed-gone.ts'
import { listVersions, type OlderRecords } from './record-versions.ts'
import type { StagedRun } from './staged-files.ts'

interface VersionsRun extends Pick<StagedRun, 'lake'> {
  readonly loader: Pick<StagedRun['loader'], 'withSession'>
}

/** @param run the lake, and what lends a session to work in */
export const recordVersions = ({ lake, loader }: VersionsRun): CommitRule => ({
  add: async (next) => {
    const { root, partitions, files, writer, moved } = next
    const older = new Map<number, OlderRecords>()
    const confirmed = await confirmedGone(lake, root, partitions, moved ?? [])
    const versions = await loader.withSession((session) =>
      listVersions({ lake, session })({
        ...{ before: root, partitions, files, writer, moved, confirmed },
        onOlder: (version, records) => older.set(version, records),
      }),
    )
    return { ...next, versions, partitions: partitions.map((one) => ({ ...one, ...older.get(one.version) })) }
  },
})
