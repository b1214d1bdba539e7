/** Which sources need not be loaded: those of the lake, and those that the run has loaded itself. By content. */

import type { Content } from '../../contract/objects.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { knownByBytes } from '../../manifest/form/loaded-sources.ts'
import type { SourceIndex } from '../../manifest/snapshots/source-index.ts'

const IN_LAKE = 'the lake holds it already (--again loads it once more)'

export class KnownSources {
  readonly #inLake: SourceIndex | null
  readonly #inRun = { companies: new Map<string, string>(), relations: new Map<string, string>() }

  /** @param inLake `null`: what the lake holds is loaded all the same */
  constructor(inLake: SourceIndex | null) {
    this.#inLake = inLake
  }

  async reasonToSkip(
    source: Source,
    { sha256 }: Fingerprint,
    contents: readonly Content[],
  ): Promise<string | undefined> {
    if (!knownByBytes(source)) return undefined
    for (const content of contents) {
      if (await this.#inLake?.holds(content, sha256)) return IN_LAKE
      // Not even to be loaded again: partitions of equal bytes have the same files.
      const twin = this.#inRun[content].get(sha256)
      if (twin !== undefined) return `it is equal to "${twin}"`
    }
    return undefined
  }

  add(source: Source, { sha256 }: Fingerprint, content: Content): void {
    if (knownByBytes(source)) this.#inRun[content].set(sha256, source.name)
  }
}
