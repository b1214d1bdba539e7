/** Loads one source block by block: blocks → check → rows → tables. */

import { emptyPart } from '../../check/check-block.ts'
import { detectContent } from '../../check/detect-content.ts'
import type { NamesOfRun } from '../../commit/names.ts'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { inStage } from '../../core/stages.ts'
import type { UnknownItems } from '../../core/unknown-names.ts'
import type { Loader } from '../../load/loader.ts'
import { badFile, type KnownSources } from './known-sources.ts'
import {
  type DonePartitions,
  type Finished,
  type PartOrigin,
  partitionEntry,
  partitionId,
} from './partition-entry.ts'
import { type BlockParts, type CheckedSourceBlock, checkedBlocks, sourceBlocks } from './source-blocks.ts'
import type { ResultTools, SourceOutcome } from './source-results.ts'
import type { TaskPool } from './task-pool.ts'

/** The stages. */
export interface LoadParts extends BlockParts {
  readonly loader: Loader
}

/** The run that a source is loaded for. */
export interface SourceRun extends ResultTools {
  readonly run: string
  /** Stands in the names of files, never in ids. */
  readonly attempt: string | undefined
  readonly parts: LoadParts
  readonly sink: SinkRun
  readonly done: DonePartitions
  readonly known: KnownSources
  readonly pool: TaskPool
  readonly names: NamesOfRun
  readonly skipBadFiles: boolean
  /** Records a partition so that a resumed run need not repeat it. */
  readonly keep: (finished: Finished) => Promise<void>
}

/** Counts a partition that is done. */
export const finish = (
  finished: Finished,
  decodedBytes: number,
  { results, progress }: Pick<SourceRun, 'results' | 'progress'>,
): void => progress.load(results.add(finished), decodedBytes)

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

/** Loads a source. Its last partitions may still be under way when it returns. */
export const loadSource = (
  source: Source,
  index: number,
  fingerprint: Fingerprint | undefined,
  run: SourceRun,
): Promise<SourceOutcome> =>
  inStage(
    { stage: 'source', run: run.run, source: source.name },
    () => loadBlocks(source, index, fingerprint, run),
    (outcome) => ('content' in outcome ? { content: outcome.content } : {}),
  )

const loadBlocks = async (
  source: Source,
  index: number,
  fingerprint: Fingerprint | undefined,
  run: SourceRun,
): Promise<SourceOutcome> => {
  const { pool } = run
  const origin = { run: run.run, id: run.done.origin(source, fingerprint, index), source, fingerprint }
  const jobs: Promise<boolean>[] = []
  try {
    let content: Content = 'companies'
    const blocks = sourceBlocks(source, run)
    for await (const block of checkedBlocks(source, blocks, run)) {
      content = block.content
      await pool.waitForSlot()
      run.progress.hand(block.block.bytes.length)
      jobs.push(pool.start(() => loadBlock({ ...origin, ...block }, index, run)))
    }
    pool.throwIfStopped()
    return { kind: 'loaded', content, jobs }
  } catch (error) {
    const reason = reasonToLeaveOut(source, error)
    if (reason !== undefined) return { kind: 'no-records', reason }
    const bad = run.skipBadFiles ? badFile(source, error) : undefined
    if (bad !== undefined) {
      await pool.waitForSuccess()
      return { kind: 'left-out', error: bad }
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
  const { sink, done, names, keep, attempt } = run
  const { loader } = run.parts
  const parts = checked.parts.length > 0 ? checked.parts : [emptyPart()]
  for (const [layer, part] of parts.entries()) {
    const place = [index, number, layer] as const
    const decodedBytes = layer === 0 ? block.bytes.length : 0
    const partition = partitionId(origin.id, number, layer)
    // The id of several small ones follows from all of their hashes.
    const before = done.find(partition, source.shared ? null : fingerprint?.sha256)
    if (before) {
      finish(names.bound({ ...before, place }), decodedBytes, run)
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
      // Excluded names must not be listed: the names are read from the written files instead.
      unknownItems:
        loader.take && sink.stagedRows
          ? { items: [], more: true }
          : itemsOfLayer(checked.unknownItems, layer),
    })
    await keep(finished)
    finish(finished, decodedBytes, run)
  }
  checked.release()
  block.release?.()
}

/** The items of a block are listed once. Where they are too many to be listed, any layer may hold them. */
const itemsOfLayer = ({ items, more }: UnknownItems, layer: number): UnknownItems =>
  layer === 0 ? { items, more } : { items: [], more }
