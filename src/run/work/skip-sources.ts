/** Leaves out the sources of which nothing is to be loaded. */

import type { Content } from '../../contract/objects.ts'
import type { Source } from '../../core/source.ts'
import type { IdentifiedSource } from './identify-sources.ts'
import { isCutToNothing, type KnownSources } from './known-sources.ts'
import { type ResultTools, settle } from './source-results.ts'

interface SkipTools extends ResultTools {
  readonly known: KnownSources
}

/** The sources that are to be loaded. The others are settled. */
export async function* toBeLoaded(
  sources: AsyncIterable<IdentifiedSource>,
  run: SkipTools,
): AsyncGenerator<IdentifiedSource, void> {
  for await (const found of sources) {
    const { name, excluded, notice } = found.source
    if (excluded !== undefined) {
      await settle(found, { kind: 'no-records', reason: excluded }, run)
      continue
    }
    if (notice !== undefined) run.onEvent?.({ kind: 'notice', source: name, text: notice })
    const reason = await reasonToSkip(found, run.known)
    if (reason === undefined) yield found
    else await settle(found, { kind: 'skipped', reason }, run)
  }
}

/** The contents that a source may have. */
export const contentsOf = ({ content }: Pick<Source, 'content'>): readonly Content[] =>
  content ? [content] : ['companies', 'relations']

/** Why a source need not be loaded; `undefined` where it has to be. */
export const reasonToSkip = async (
  { source, fingerprint, whole }: IdentifiedSource,
  known: KnownSources,
): Promise<string | undefined> => {
  if (fingerprint === undefined || isCutToNothing(source, fingerprint)) return undefined
  return known.reasonToSkip(source, fingerprint, contentsOf(whole ?? source))
}
