/** Snapshots as earlier releases wrote them: one text each, as their own code made it. Knows nothing of vitest. */

import type { Snapshot } from '../../src/core/partition.ts'
import { snapshotPath } from '../../src/lake/lake/layout.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { sha256Of } from '../../src/support/hash.ts'

const lines = (entries: readonly unknown[]): string =>
  entries.length === 0 ? '[]' : `[\n${entries.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`

export const snapshotToText = (snapshot: Snapshot): string => {
  const { format, snapshot: number, parent, run, pipeline, tool, time } = snapshot
  const { partitions, files, pulls, merged } = snapshot
  const head = Object.entries({ format, snapshot: number, parent, run, pipeline, tool, time })
    .map(([name, value]) => `  "${name}": ${JSON.stringify(value)},\n`)
    .join('')
  const lists = Object.entries({ partitions, files, ...(pulls && { pulls }), ...(merged && { merged }) })
    .map(([name, entries]) => `  "${name}": ${lines(entries)},\n`)
    .join('')
  const body = `{\n${head}${lists}`
  return `${body}  "sha256": "${sha256Of(body)}"\n}\n`
}

/** Creates the file of a snapshot if its number is free. @returns whether it was */
export const createSnapshot = (lake: string, snapshot: Snapshot): Promise<boolean> =>
  storageOf(lake).create(snapshotPath(snapshot.snapshot), snapshotToText(snapshot))
