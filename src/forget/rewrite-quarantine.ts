/** Files of quarantined lines written again without what is about the forgotten. */

import { type FileHandle, open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type IsForgotten, ownerOf, parsedRecord } from '../check/quarantine/refuse-lines.ts'
import type { Content } from '../contract/objects.ts'
import type { CommittedPartition, FileEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { readQuarantine } from '../lake/views/current-versions.ts'
import { sourcesOf } from '../manifest/form/sources.ts'
import { makeFolder, removeIfThere } from '../support/durable-files.ts'
import { PRIVATE_FILE } from '../support/file-modes.ts'
import { cleanSource, type QuarantineChange } from './clean-entries.ts'
import { type ForgottenEntities, withoutForgotten } from './clean-record.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'

const NO_TEXT = { raw: null, raw_base64: null } as const

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Looks at a file, and writes what is left of it to `out`. */
const cleanFile = async (
  { session }: ForgetWork,
  path: string,
  { bytes }: FileEntry,
  forgetting: Forgetting,
  names: ReadonlyMap<string, string>,
  out: FileHandle | undefined,
): Promise<Pick<QuarantineChange, 'gone' | 'changed' | 'cleared'>> => {
  const gone = new Map<string, number>()
  let [changed, cleared] = [0, 0]
  for await (const rows of session.stream(readQuarantine([{ path, bytes }])))
    for (const { partition: _, ...row } of rows) {
      const cleaned = cleanLine(
        {
          content: row.content === 'relations' ? 'relations' : 'companies',
          raw: toText(row.raw),
          raw_base64: toText(row.raw_base64),
          reason: String(row.reason),
        },
        forgetting,
      )
      if (cleaned.kind === 'gone') {
        const from = String(row.source)
        gone.set(from, (gone.get(from) ?? 0) + 1)
        continue
      }
      const source = names.get(String(row.source)) ?? row.source
      if (cleaned.kind === 'changed' || source !== row.source) changed += 1
      if (cleaned.kind === 'cleared') cleared += 1
      const left =
        cleaned.kind === 'changed'
          ? { ...row, raw: cleaned.raw, size_bytes: Buffer.byteLength(cleaned.raw) }
          : cleaned.kind === 'cleared'
            ? { ...row, ...NO_TEXT, reason: String(row.code) }
            : row
      await out?.appendFile(`${JSON.stringify({ ...left, source })}\n`)
    }
  return { gone, changed, cleared }
}

const sumOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)

/**
 * Looks through the quarantine files of a partition.
 *
 * @param sink where files go that are written again. @default nothing is written
 * @returns those that hold something of the forgotten
 */
export const rewriteQuarantine = async (
  work: ForgetWork,
  partition: CommittedPartition,
  forgetting: Forgetting,
  sink?: SinkRun,
): Promise<readonly QuarantineChange[]> => {
  const { session, scratch, signal } = work
  const changes: QuarantineChange[] = []
  const columns = QUARANTINE.columns.map(({ name }) => ident(name)).join(', ')
  const path = join(scratch, 'quarantine.jsonl')
  const names = new Map(
    sourcesOf(partition).map((source) => [source.name, cleanSource(source, forgetting.identifiers).name]),
  )
  for (const file of partition.files.filter(({ table }) => table === QUARANTINE.name)) {
    signal?.throwIfAborted()
    if (sink) await makeFolder(scratch)
    const out = sink && (await open(path, 'w', PRIVATE_FILE))
    try {
      const found = await withLakeFiles(work, [file], (placeOf) =>
        cleanFile(work, placeOf(file.path), file, forgetting, names, out),
      )
      const gone = sumOf(found.gone)
      if (gone + found.changed + found.cleared === 0) continue
      if (sink === undefined || out === undefined || gone === file.rows) {
        changes.push({ file, ...found })
        continue
      }
      const { size } = await out.stat()
      const rows = session.relation(`SELECT ${columns} FROM (${readQuarantine([{ path, bytes: size }])})`)
      // The partition of the lines is known by the name of the file.
      const name = basename(file.path).replace(/\.jsonl$/, '')
      const [written] = (await sink.write(name, QUARANTINE.name, rows)).files
      changes.push({ file, ...found, ...(written && { written }) })
    } finally {
      await out?.close()
      await removeIfThere(path)
    }
  }
  return changes
}

/** A row of the quarantine, as far as it matters here. */
interface LineStrings {
  readonly content: Content
  readonly raw: string | null
  readonly raw_base64: string | null
  readonly reason: string
}

/** `gone`: the line was of a company that is forgotten. `cleared`: it mentions them, so its text goes. */
type CleanedLine =
  | { readonly kind: 'same' | 'gone' | 'cleared' }
  | { readonly kind: 'changed'; readonly raw: string }

interface Forgetting extends ForgottenEntities {
  readonly isCompany: IsForgotten
}

/** The rest of a readable line about others; `undefined` where its text goes. */
const restOf = (content: Content, raw: string, forgetting: Forgetting): string | undefined => {
  try {
    const { text, isStripped } = withoutForgotten(content, raw, forgetting)
    return isStripped || forgetting.identifiers.standIn(text) ? undefined : text
  } catch {
    // The line is nested deeper than any record.
    return undefined
  }
}

const cleanLine = (
  { content, raw, raw_base64: base64, reason }: LineStrings,
  forgetting: Forgetting,
): CleanedLine => {
  const { standIn, mentions } = forgetting.identifiers
  const bytes = Buffer.from(base64 ?? '', 'base64')
  const strings = raw === null ? [bytes.toString('utf8'), bytes.toString('latin1')] : [raw]
  const owner = raw === null || parsedRecord(raw) === undefined ? undefined : ownerOf(content, raw)
  if (owner !== undefined && forgetting.isCompany(owner)) return { kind: 'gone' }
  if (raw === null || owner === undefined)
    return [...strings, reason].some(mentions) ? { kind: 'cleared' } : { kind: 'same' }
  const rest = restOf(content, raw, forgetting)
  if (rest === undefined || standIn(reason)) return { kind: 'cleared' }
  return rest === raw ? { kind: 'same' } : { kind: 'changed', raw: rest }
}
