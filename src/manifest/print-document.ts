/**
 * A snapshot as one document, in the form in which earlier releases kept it: with its own hash in its last field it is
 * a snapshot that they read. Piece by piece: no text is longer than those of a part.
 */

import { createHash } from 'node:crypto'
import { countEntries, entriesOf, type ListName, summaryOfPart } from './parts.ts'
import { TEXT_FORMAT } from './snapshot-form.ts'
import { headOf, type SnapshotRoot } from './snapshot-root.ts'
import { ending, entryLine, fieldLines } from './snapshot-text.ts'

async function* listText(lake: string, root: SnapshotRoot, name: ListName): AsyncGenerator<string> {
  const length = countEntries<unknown>(root.lists[name])
  yield length === 0 ? `  "${name}": [` : `  "${name}": [\n`
  for await (const { place, entries } of entriesOf(lake, name, root.lists[name])) {
    const isLast = place + entries.length === length
    yield `${entries.map(entryLine).join(',\n')}${isLast ? '\n' : ',\n'}`
  }
  yield length === 0 ? '],\n' : '  ],\n'
}

async function* bodyText(lake: string, root: SnapshotRoot): AsyncGenerator<string> {
  const { forgotten } = root
  yield `{\n${fieldLines({ format: TEXT_FORMAT, ...headOf(root), ...(forgotten && { forgotten }) })}`
  yield* listText(lake, root, 'partitions')
  yield* listText(lake, root, 'files')
  if (root.lists.pulls.some((part) => summaryOfPart(part).entries > 0)) yield* listText(lake, root, 'pulls')
  if (root.lists.merged.some((part) => summaryOfPart(part).entries > 0)) yield* listText(lake, root, 'merged')
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export async function* documentText(lake: string, root: SnapshotRoot): AsyncGenerator<string> {
  const hash = createHash('sha256')
  for await (const text of bodyText(lake, root)) {
    hash.update(text)
    yield text
  }
  yield ending(hash.digest('hex'))
}
