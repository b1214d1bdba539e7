/** Facts of a source before it is opened: its fingerprint, and what an earlier attempt of the run has loaded of it. */

import type { ToolkitError } from '../../core/errors.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { badFile } from './known-sources.ts'
import type { DonePartitions, WholeSource } from './partition-entry.ts'
import { prefetchNext } from './prefetch.ts'

export interface IdentifiedSource {
  readonly source: Source
  /** The source's place among all. */
  readonly index: number
  /** `undefined` where it can be read only once, or is bad. */
  readonly fingerprint: Fingerprint | undefined
  /** The source's partitions, where an earlier attempt of the run has finished them all. */
  readonly whole?: WholeSource | undefined
  /** The source's error, where bad files are skipped. */
  readonly bad?: ToolkitError
}

interface IdentifyTools {
  readonly done: DonePartitions
  readonly skipBadFiles: boolean
}

/** The sources in their order, the next one identified ahead. */
export async function* identified(
  sources: readonly Source[],
  tools: IdentifyTools,
  signal: AbortSignal | undefined,
): AsyncGenerator<IdentifiedSource, void> {
  const identify = (source: Source, index: number, stop: AbortSignal) =>
    identifyOne(source, index, tools, stop)
  for await (const { result } of prefetchNext(sources, identify, signal)) yield result
}

const identifyOne = async (
  source: Source,
  index: number,
  { done, skipBadFiles }: IdentifyTools,
  signal: AbortSignal,
): Promise<IdentifiedSource> => {
  try {
    // With a key there is no need to fetch what was loaded already, only to see that it was.
    const before = source.key === undefined ? undefined : done.wholeSource(source, undefined, index)
    if (before) return { source, index, fingerprint: before.fingerprint, whole: before }
    const fingerprint = await source.fingerprint?.(signal)
    const whole = fingerprint && done.wholeSource(source, fingerprint, index)
    return { source, index, fingerprint, whole }
  } catch (error) {
    const bad = skipBadFiles ? badFile(source, error) : undefined
    if (bad === undefined) throw error
    return { source, index, fingerprint: undefined, bad }
  }
}
