/** A snapshot as one document, for people and programs. Piece by piece: no text is longer than those of a part. */

import { FORMAT } from '../form/root-form.ts'
import { countEntries, entriesOf, LIST_NAMES, type ListName } from '../parts/parts.ts'
import { headOf, type SnapshotRoot } from './snapshot-root.ts'
import { entryLine, fieldLines } from './snapshot-text.ts'

async function* listText(lake: string, root: SnapshotRoot, name: ListName): AsyncGenerator<string> {
  const length = countEntries(root.lists[name])
  yield `,\n  "${name}": [${length === 0 ? ']' : '\n'}`
  for await (const { place, entries } of entriesOf(lake, name, root.lists[name])) {
    const isLast = place + entries.length === length
    yield `${entries.map(entryLine).join(',\n')}${isLast ? '\n  ]' : ',\n'}`
  }
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export async function* documentText(lake: string, root: SnapshotRoot): AsyncGenerator<string> {
  const { forgotten } = root
  yield `{\n${fieldLines({ format: FORMAT, ...headOf(root), ...(forgotten && { forgotten }) }).slice(0, -2)}`
  for (const name of LIST_NAMES)
    if (name === 'partitions' || name === 'files' || countEntries(root.lists[name]) > 0)
      yield* listText(lake, root, name)
  yield '\n}\n'
}
