/** Loads one source block by block: the next is decoded while DuckDB works on those before. */

import type { Checkers, HeldBlock } from '../../check/block-checker.ts'
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
import { settled } from '../../support/side-by-side.ts'
import { badFile } from './bad-files.ts'
import type { DonePartitions } from './done-partitions.ts'
import { hashWhileReading } from './hash-while-reading.ts'
import type { NamesOfRun } from './names-of-run.ts'
import { type Finished, type PartOrigin, type Place, partitionEntry, partitionId } from './partition-entry.ts'
import { SourceCheck } from './source-check.ts'
import type { TaskPool } from './task-pool.ts'

/** Hears of a source that is being decoded. */
export interface DecodeListener {
  /** Called with the number of stored bytes read. */
  readonly onRead?: ((bytes: number) => void) | undefined
  /** Called with the lines that the next block has so far: it begins with them. */
  readonly onLines?: ((begun: Block) => void) | undefined
}

/** The stages. */
export interface LoadParts {
  /** Stored bytes of a source as blocks. */
  readonly decode: (source: Source, heard: DecodeListener) => AsyncIterable<Block>
  readonly checkers: Checkers
  /** Takes out of a block what the lake was told to forget, before it is checked. @default nothing */
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
  if (!source.found || !(error instanceof ToolkitError) || error.code !== 'SOURCE_FORM') return undefined
  if (detectContent(undefined, source.name) !== undefined) return undefined
  return `it lies in the folder but looks like ${error.context.looks}`
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

export type SourceOutcome = LoadedSource | { readonly leftOut: string } | { readonly bad: ToolkitError }

const loadBlocks = async (
  source: Source,
  index: number,
  known: Fingerprint | undefined,
  run: SourceRun,
): Promise<SourceOutcome> => {
  const { parts, pool } = run
  const hashed = hashWhileReading(source)
  const check = new SourceCheck(source, run)
  const blocks = parts.decode(known ? source : hashed.source, {
    onRead: run.onRead,
    onLines: (begun) => check.lines(begun),
  })
  const iterator = blocks[Symbol.asyncIterator]()
  const decodeNext = (): Promise<IteratorResult<Block>> =>
    inStage(
      { stage: 'decode', run: run.run, source: source.name },
      () => iterator.next(),
      ({ done, value }) => (done ? {} : { bytes: value.bytes.length }),
    )
  const jobs: Promise<boolean>[] = []
  /** Of blocks that are being checked, the oldest first: what loads each when it is. */
  const checks: (() => Promise<void>)[] = []
  const originId = run.done.origin(source, known, index)
  const { range = WHOLE } = source
  try {
    let next = settled(decodeNext())
    check.waitForFirst()
    let content: Content | undefined
    for (let number = 0; number < range.to; number++) {
      const step = (await next)()
      check.stopWaiting()
      if (step.done && number > 0) break
      const read = step.done ? NO_LINES : step.value
      if (number + 1 < range.to && !step.done) next = settled(decodeNext())
      if (number < range.from) {
        read.release?.()
        continue
      }
      const checker = check.checkerFor(read)
      if (checker === undefined) return { leftOut: NO_RECORDS_FOUND }
      if (content === undefined && !source.shared) run.onContent(source.name, checker.content)
      content = checker.content
      const block = parts.refuse?.(read, content) ?? read
      const checked = settled(checker.check(block))
      const upcoming = next
      const isLast = async (): Promise<boolean> => {
        try {
          if (number + 1 >= range.to) return range.to === range.of
          return step.done === true || (await upcoming)().done === true
        } catch (error) {
          // Nothing of the file is kept then; the loop below says so.
          if (run.skipBadFiles && badFile(source, error)) return false
          throw error
        }
      }
      const origin = { run: run.run, id: originId, source, fingerprint: known, content, block }
      checks.push(async () => {
        const held = (await checked)()
        await pool.room()
        jobs.push(pool.start(() => loadBlock({ ...origin, checked: held }, [index, number], isLast, run)))
      })
      if (checks.length >= checker.atOnce) await checks.shift()?.()
      if (step.done) break
    }
    for (const load of checks) await load()
    // What can be read only once gets its fingerprint when all of it is loaded; else the next source may begin.
    if (known) pool.throwIfStopped()
    else await pool.idle()
    return { content: content ?? 'companies', fingerprint: known ?? hashed.fingerprint(), jobs }
  } catch (error) {
    const leftOut = reasonToLeaveOut(source, error)
    if (leftOut !== undefined) return { leftOut }
    const bad = run.skipBadFiles ? badFile(source, error) : undefined
    if (bad !== undefined) {
      await pool.idle()
      return { bad }
    }
    pool.fail(error)
    await pool.idle()
    throw error
  } finally {
    await iterator.return?.()
  }
}

const loadBlock = async (
  origin: Omit<PartOrigin, 'last'> & { readonly checked: HeldBlock },
  [index, number]: readonly [source: number, block: number],
  isLast: () => Promise<boolean>,
  { parts: { loader }, sink, done, names, keep, onFinished, attempt }: SourceRun,
): Promise<void> => {
  const { source, fingerprint, content, block, checked } = origin
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
      () => loader.load(request, sink),
      ({ kept }) => ({
        records: kept.members.length,
        quarantined: request.rejected.length,
        filtered: part.members.length - kept.members.length,
      }),
    )
    const finished = names.bound({
      place,
      layers: parts.length,
      partition: partitionEntry({ ...origin, last: await isLast() }, place, part, loaded),
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

const NO_RECORDS_FOUND = 'not a companies or relations file'
const finishedBefore = (entry: JournalEntry, place: Place, names: NamesOfRun): Finished => {
  const { layers, partition, unknownItems } = entry
  return names.bound({ place, layers, partition, unknownItems })
}

/** The items of a block are listed once. Where they are too many to be listed, any layer may hold them. */
const itemsOfLayer = ({ items, more }: UnknownItems, layer: number): UnknownItems =>
  layer === 0 ? { items, more } : { items: [], more }

const WHOLE = { from: 0, to: Number.POSITIVE_INFINITY, of: Number.POSITIVE_INFINITY }
const NO_LINES: Block = { bytes: Buffer.alloc(0), firstLine: 1, offset: 0, overlong: [] }
