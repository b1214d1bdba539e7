/** Loads one source block by block: blocks → check → rows → tables. */

import type { Checkers } from '../../check/block-checker.ts'
import { emptyPart } from '../../check/check-block.ts'
import { detectContent } from '../../check/detect-content.ts'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Block } from '../../core/lines.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { inStage } from '../../core/stages.ts'
import type { UnknownItems } from '../../core/unknown-names.ts'
import type { Loader } from '../../load/loader.ts'
import type { JournalEntry } from '../../manifest/runs/journal.ts'
import { badFile } from './known-sources.ts'
import type { NamesOfRun } from './names-of-run.ts'
import {
  type DonePartitions,
  type Finished,
  type PartOrigin,
  type Place,
  partitionEntry,
  partitionId,
} from './partition-entry.ts'
import {
  type CheckedSourceBlock,
  checkedBlocks,
  type Decode,
  hashWhileReading,
  sourceBlocks,
} from './source-blocks.ts'
import type { TaskPool } from './task-pool.ts'

/** The stages. */
export interface LoadParts {
  readonly decode: Decode
  readonly checkers: Checkers
  /** Takes forgotten companies and entities out of a block, before it is checked. @default nothing is taken out */
  readonly refuse?: ((block: Block, content: Content) => Block) | undefined
  readonly loader: Loader
}

/** The run that a source is loaded for. */
export interface SourceRun {
  readonly run: string
  /** Stands in the names of files, never in ids. */
  readonly attempt: string | undefined
  readonly parts: LoadParts
  readonly sink: SinkRun
  readonly done: DonePartitions
  readonly pool: TaskPool
  readonly names: NamesOfRun
  readonly skipBadFiles: boolean
  /** Records a partition so that a resumed run need not repeat it. */
  readonly keep: (finished: Finished) => Promise<void>
  /** Called with each partition that is done, and its decoded bytes. */
  readonly onFinished: (finished: Finished, decodedBytes: number) => void
  readonly onRead: (bytes: number) => void
  readonly onContent: (source: string, content: Content) => void
}

export interface LoadedSource {
  readonly content: Content
  readonly fingerprint: Fingerprint
  /** Its partitions, the last of which may still be under way. */
  readonly jobs: readonly Promise<boolean>[]
}

/**
 * Why a file that was only found in a folder is left out: its content is unknown, or it is of another form.
 * Not so where its name says what it should hold: it is damaged then.
 */
const reasonToLeaveOut = (source: Source, error: unknown): string | undefined => {
  if (!source.found || !(error instanceof ToolkitError)) return undefined
  if (error.code === 'CONTENT_UNKNOWN') return 'not a companies or relations file'
  if (error.code !== 'SOURCE_FORM' || detectContent(undefined, source.name) !== undefined) return undefined
  return `not a companies or relations file: it looks like ${error.context.looks}`
}

/**
 * Loads a source. Without a known fingerprint it is hashed on the way and nothing of it is recorded before its
 * end.
 *
 * @returns why it is left out, for a file that was only found in a folder and holds no records; what is wrong with a bad
 *   file, where those are skipped
 */
export const loadSource = (
  source: Source,
  index: number,
  known: Fingerprint | undefined,
  run: SourceRun,
): Promise<SourceOutcome> =>
  inStage(
    { stage: 'source', run: run.run, source: source.name },
    () => loadBlocks(source, index, known, run),
    (outcome) => ('content' in outcome ? { content: outcome.content } : {}),
  )

export type SourceOutcome = LoadedSource | { readonly excluded: string } | { readonly bad: ToolkitError }

const loadBlocks = async (
  source: Source,
  index: number,
  known: Fingerprint | undefined,
  run: SourceRun,
): Promise<SourceOutcome> => {
  const { parts, pool } = run
  const hashed = hashWhileReading(source)
  const origin = { run: run.run, id: run.done.origin(source, known, index), source, fingerprint: known }
  const jobs: Promise<boolean>[] = []
  try {
    let content: Content = 'companies'
    const blocks = sourceBlocks(known ? source : hashed.source, parts.decode, run)
    for await (const block of checkedBlocks(source, blocks, run)) {
      content = block.content
      await pool.waitForSlot()
      jobs.push(pool.start(() => loadBlock({ ...origin, ...block }, index, run)))
    }
    // A source that can be read only once gets its fingerprint when all of it is loaded; else the next one may begin.
    if (known) pool.throwIfStopped()
    else await pool.waitForSuccess()
    return { content, fingerprint: known ?? hashed.fingerprint(), jobs }
  } catch (error) {
    const excluded = reasonToLeaveOut(source, error)
    if (excluded !== undefined) return { excluded }
    const bad = run.skipBadFiles ? badFile(source, error) : undefined
    if (bad !== undefined) {
      await pool.waitForSuccess()
      return { bad }
    }
    pool.fail(error)
    await pool.waitForSuccess()
    throw error
  }
}

type BlockOrigin = Omit<PartOrigin, 'last'> & CheckedSourceBlock

/** Whether no block follows. Of a bad file that is skipped nothing is kept: its error is thrown where its blocks are read. */
const isLast = async ({ source, isLast: asked }: BlockOrigin, skipBadFiles: boolean): Promise<boolean> => {
  try {
    return await asked()
  } catch (error) {
    if (skipBadFiles && badFile(source, error)) return false
    throw error
  }
}

const loadBlock = async (origin: BlockOrigin, index: number, run: SourceRun): Promise<void> => {
  const { source, fingerprint, content, block, checked, number } = origin
  const { sink, done, names, keep, onFinished, attempt } = run
  const { loader } = run.parts
  const parts = checked.parts.length > 0 ? checked.parts : [emptyPart()]
  for (const [layer, part] of parts.entries()) {
    const place = [index, number, layer] as const
    const decodedBytes = layer === 0 ? block.bytes.length : 0
    const partition = partitionId(origin.id, number, layer)
    // The id of several small ones follows from all of their hashes.
    const before = done.find(partition, source.shared ? null : fingerprint?.sha256)
    if (before) {
      onFinished(finishedBefore(before, place, names), decodedBytes)
      continue
    }
    const request = {
      partition: attempt === undefined ? partition : `${partition}.${attempt}`,
      content,
      bytes: block.bytes,
      part,
      rejected: layer === 0 ? checked.rejected : [],
      source: source.name,
    }
    const loaded = await inStage(
      { stage: 'load', run: origin.run, partition, content },
      () => loader.load(request, (table, rows) => sink.write(request.partition, table, rows)),
      ({ kept }) => ({
        records: kept.members.length,
        quarantined: request.rejected.length,
        filtered: part.members.length - kept.members.length,
      }),
    )
    const finished = names.bound({
      place,
      layers: parts.length,
      partition: partitionEntry(
        { ...origin, last: await isLast(origin, run.skipBadFiles) },
        place,
        part,
        loaded,
      ),
      // Names of what is left out are not listed: the files tell those of what is taken.
      unknownItems:
        loader.take && sink.stagedRows
          ? { items: [], more: true }
          : itemsOfLayer(checked.unknownItems, layer),
    })
    if (fingerprint) await keep(finished)
    onFinished(finished, decodedBytes)
  }
  checked.release()
  block.release?.()
}

const finishedBefore = (entry: JournalEntry, place: Place, names: NamesOfRun): Finished => {
  const { layers, partition, unknownItems } = entry
  return names.bound({ place, layers, partition, unknownItems })
}

/** The items of a block are listed once. Where they are too many to be listed, any layer may hold them. */
const itemsOfLayer = ({ items, more }: UnknownItems, layer: number): UnknownItems =>
  layer === 0 ? { items, more } : { items: [], more }
