/** Records of one partition restored as they came, and loaded again into files of this machine. */

import { join } from 'node:path'
import { openCheckers } from '../check/block-checker.ts'
import type { Content } from '../contract/objects.ts'
import { ToolkitError } from '../core/errors.ts'
import type { CommittedPartition } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import type { FileAccess } from '../lake/files/file-access.ts'
import { openLoader } from '../load/loader.ts'
import { appendCompany, restoreCompanies, restoreRelations } from '../restore/restore.ts'
import { ByteWriter } from '../support/buffers.ts'
import { makeFolder } from '../support/durable-files.ts'
import type { ForgetWork } from './forget-work.ts'

/** They were loaded before, maybe with other limits. */
const NO_LIMITS = { maxDepth: 100_000, maxUnknownPerRecord: Infinity, maxUnknownNames: Infinity } as const

const BLOCK_BYTES = 16 * 1024 ** 2

/** Texts as blocks of lines. */
async function* blocksOf(strings: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let lines: Buffer[] = []
  let bytes = 0
  for await (const text of strings) {
    const line = Buffer.from(`${text}\n`)
    lines.push(line)
    bytes += line.length
    if (bytes < BLOCK_BYTES) continue
    yield Buffer.concat(lines)
    lines = []
    bytes = 0
  }
  if (lines.length > 0) yield Buffer.concat(lines)
}

/** A sink of files that nobody keeps. */
const scratchSink = (folder: string, files: Map<string, string[]>): SinkRun => ({
  write: async (partition, table, rows) => {
    const path = join(folder, `${partition}.${table}.parquet`)
    const { rows: count, statistics } = await rows.copyTo(path, { kind: 'parquet' })
    files.set(table, [...(files.get(table) ?? []), path])
    return { table, rows: count, files: [], statistics }
  },
  commit: async () => undefined,
  abort: async () => undefined,
})

const rejected = (lake: string): ToolkitError =>
  new ToolkitError(
    'FORGET_IMPOSSIBLE',
    `Cannot forget in lake "${lake}": a record that was loaded before is refused by this release, expected the release that loaded it`,
    { lake },
  )

/** @returns files by table */
export const reload = async (
  { engine, lake }: ForgetWork,
  content: Content,
  strings: AsyncIterable<string>,
  folder: string,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const files = new Map<string, string[]>()
  const checkers = openCheckers(NO_LIMITS)
  const checker = checkers.of(content)
  await makeFolder(folder)
  const loader = openLoader(async () => engine, { spoolFolder: folder })
  const sink = scratchSink(folder, files)
  let number = 0
  for await (const bytes of blocksOf(strings)) {
    const checked = await checker.check({ bytes, firstLine: 1, offset: 0, overlong: [] })
    if (checked.rejected.length > 0) throw rejected(lake)
    for (const part of checked.parts) {
      number += 1
      const request = { partition: String(number), content, bytes, part, rejected: [], source: 'forget' }
      await loader.load(request, (table, rows) => sink.write(request.partition, table, rows))
    }
    checked.release()
  }
  await loader.close()
  await checkers.close()
  return files
}

/** The texts of the records of one partition. @param ids of the records. @default all @param access how its files are read */
export async function* restoredStrings(
  { session, lake, snapshot, known, signal, scratch }: ForgetWork,
  partition: CommittedPartition,
  ids?: readonly bigint[],
  access?: FileAccess,
): AsyncGenerator<string> {
  const { merged: _, ...rest } = snapshot
  const request = {
    ...{ session, lake, ids, known, signal, scratch, access },
    snapshot: { ...rest, partitions: [partition] },
    // The lists of versions know nothing of a load that is held back.
    inEvery: true,
  }
  if (partition.content === 'relations') {
    for await (const records of restoreRelations(request))
      for (const { text } of records) yield Buffer.from(text).toString()
    return
  }
  const writer = new ByteWriter()
  for await (const companies of restoreCompanies(request))
    for (const company of companies) {
      writer.clear()
      appendCompany(writer, company)
      yield writer.text()
    }
}
