/** One partition without the forgotten: its files, counts, drift and range. */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
import type { CommittedPartition, FileEntry } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import { observedOf } from '../../load/loader.ts'
import { discard } from '../../support/durable-files.ts'
import { filteredFrom, withoutRecords } from './clean-counts.ts'
import { type ForgottenEntities, withoutForgotten } from './clean-record.ts'
import type { Held } from './find-held.ts'
import type { ForgetWork } from './forget-work.ts'
import { reload } from './reload.ts'
import { restoredTexts } from './restored-texts.ts'
import { type HeldFile, rewriteFiles } from './rewrite-files.ts'

async function* without(
  texts: AsyncIterable<string>,
  content: Content,
  forgotten: ForgottenEntities,
): AsyncGenerator<string> {
  for await (const text of texts) yield withoutForgotten(content, text, forgotten).text
}

/** Rows of each table that a partition names. */
const rowsOf = (
  { counts }: CommittedPartition,
  files: readonly FileEntry[],
): CommittedPartition['counts']['rows'] =>
  Object.fromEntries(
    Object.keys(counts.rows).map((table) => [
      table,
      files.filter((file) => file.table === table).reduce((sum, { rows }) => sum + rows, 0),
    ]),
  )

/** The places of records that go, among all records of the partition; of a partition of one file. */
const placesOf = (content: string, files: readonly HeldFile[], { removed }: Held): readonly number[] =>
  files
    .filter(({ table }) => table.name === content)
    .flatMap(({ owners }) => [...owners].flatMap(([id, place]) => (removed.has(id) ? [place] : [])))

/** A partition whose tables were written again. */
export interface RewrittenRows {
  readonly partition: CommittedPartition
  readonly written: readonly FileEntry[]
}

/** Its drift, which may stand elsewhere, stays. @param files of it that hold rows of theirs */
export const rewritePartition = async (
  work: ForgetWork,
  sink: SinkRun,
  partition: CommittedPartition,
  held: Held,
  files: readonly HeldFile[],
  forgotten: ForgottenEntities,
): Promise<RewrittenRows> => {
  const { content, source, sources } = partition
  const { changed } = held
  const folder = join(work.scratch, 'reloaded')
  const changedTexts = (): AsyncGenerator<string> =>
    without(restoredTexts(work, partition, [...changed]), content, forgotten)
  const again = changed.size === 0 ? new Map() : await reload(work, content, changedTexts(), folder)
  const receipts = await rewriteFiles(work, sink, partition, files, held, again)
  await discard(folder)
  const left = partition.files.map((file) => receipts.get(file.path)?.files[0] ?? file)
  const places = placesOf(content, files, held)
  const observed = observedOf(content, [...receipts.values()])
  const isRanged = !isCompaction(source) && receipts.size > 0 && places.length + changed.size > 0
  return {
    written: [...receipts.values()].flatMap((receipt) => receipt.files),
    partition: {
      ...partition,
      ...(sources && { sources: withoutRecords(sources, places) }),
      range: { ...partition.range, ...(isRanged && { observed }) },
      counts: {
        ...filteredFrom(partition.counts, 'records', places.length),
        rows: rowsOf(partition, left),
      },
      files: left,
    },
  }
}
