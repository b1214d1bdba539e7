/** Cuts local files into units: consecutive small files together, large ones into ranges of their blocks. */

import { detectContent } from '../check/detect-content.ts'
import { brotliOriginOf } from '../core/brotli.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Source } from '../core/source.ts'
import { decodeBlocks } from '../decode/decode-blocks.ts'
import type { UnitSource, WorkUnit } from '../manifest/runs/units.ts'
import type { SourceIndex } from '../manifest/snapshots/source-index.ts'
import type { SkippedSource } from '../run/job-kind.ts'
import type { RunLimits } from '../run/run-plan.ts'
import { identified } from '../run/work/identify-sources.ts'
import { badFile, isCutToNothing, KnownSources } from '../run/work/known-sources.ts'
import { DonePartitions } from '../run/work/partition-entry.ts'
import { contentsOf, reasonToSkip } from '../run/work/skip-sources.ts'

/**
 * Ranges that one file is cut into at most: compressed bytes are decoded from their beginning each time, which takes
 * about a seventh of the work of loading them.
 */
const MOST_RANGES = 16

interface CutFilesOptions {
  readonly unitBytes: number
  readonly limits: RunLimits
  readonly skipBadFiles: boolean
  /** The sources that the lake holds; `null` loads them all the same. */
  readonly inLake: SourceIndex | null
  readonly signal?: AbortSignal | undefined
}

interface CutFiles {
  readonly units: readonly WorkUnit[]
  readonly skipped: readonly SkippedSource[]
}

/** How many blocks a file has, and what it holds. */
const countBlocks = async (
  source: Source,
  { limits, signal }: CutFilesOptions,
): Promise<Pick<UnitSource, 'content'> & { readonly blocks: number }> => {
  const { blockBytes, maxLineBytes, maxRatio } = limits
  const decoded = decodeBlocks(() => source.open(signal), {
    name: source.decodeName ?? source.name,
    origin: brotliOriginOf(source),
    ...{ blockBytes, maxLineBytes, maxRatio, signal },
  })
  let blocks = 0
  let content = source.content
  for await (const block of decoded) {
    if (blocks === 0) content ??= detectContent(block, source.name)
    blocks += 1
    block.release?.()
  }
  return { blocks, content }
}

/** Ranges of about one size; none where the file is to be loaded in one piece. */
const rangesOf = async (
  source: Source,
  stored: UnitSource,
  options: CutFilesOptions,
): Promise<readonly UnitSource[]> => {
  const most = Math.min(MOST_RANGES, Math.ceil((source.sizeBytes ?? 0) / options.unitBytes))
  if (most < 2) return []
  try {
    const { blocks, content } = await countBlocks(source, options)
    const ranges = Math.min(most, blocks)
    // A fault behind the first block is found by the unit.
    if (ranges < 2 || content === undefined) return []
    return Array.from({ length: ranges }, (_, at) => ({
      ...stored,
      content,
      blocks: {
        from: Math.floor((blocks * at) / ranges),
        to: Math.floor((blocks * (at + 1)) / ranges),
        of: blocks,
      },
    }))
  } catch (error) {
    // The source's unit leaves it out, and says why.
    if (options.skipBadFiles && badFile(source, error)) return []
    throw error
  }
}

/** Consecutive small files until a unit is full. */
class UnitFiller {
  readonly units: WorkUnit[] = []
  readonly #unitBytes: number
  #sources: UnitSource[] = []
  #bytes = 0

  constructor(unitBytes: number) {
    this.#unitBytes = unitBytes
  }

  add(source: UnitSource, bytes: number): void {
    if (this.#bytes + bytes > this.#unitBytes) this.close()
    this.#sources.push(source)
    this.#bytes += bytes
  }

  close(): void {
    if (this.#sources.length > 0) this.units.push({ phase: 0, job: 0, sources: this.#sources })
    this.#sources = []
    this.#bytes = 0
  }
}

/** @throws {ToolkitError} USAGE for what can be read only once; as the sources do */
export const cutFiles = async (sources: readonly Source[], options: CutFilesOptions): Promise<CutFiles> => {
  const { skipBadFiles, signal } = options
  const known = new KnownSources(options.inLake)
  const filler = new UnitFiller(options.unitBytes)
  const skipped: SkippedSource[] = []
  const tools = { done: new DonePartitions('', []), skipBadFiles }
  for await (const one of identified(sources, tools, signal)) {
    const { source, index, fingerprint, bad } = one
    const { name, content, found, sizeBytes = 0 } = source
    const reason = source.excluded ?? (await reasonToSkip(one, known))
    if (reason !== undefined) {
      skipped.push({ source: name, reason })
      continue
    }
    if (fingerprint === undefined && bad === undefined)
      throw new ToolkitError(
        'USAGE',
        `Cannot plan a run over "${name}": it can be read only once, expected files`,
      )
    const stored: UnitSource = {
      ...{ name, at: index },
      ...(fingerprint && { fingerprint }),
      ...(content && { content }),
      ...(found && { found }),
    }
    if (fingerprint && !isCutToNothing(source, fingerprint))
      for (const each of contentsOf(source)) known.add(source, fingerprint, each)
    const ranges = fingerprint ? await rangesOf(source, stored, options) : []
    if (ranges.length > 0) filler.close()
    for (const range of ranges) {
      filler.add(range, sizeBytes)
      filler.close()
    }
    if (ranges.length === 0) filler.add(stored, sizeBytes)
  }
  filler.close()
  return { units: filler.units, skipped }
}
