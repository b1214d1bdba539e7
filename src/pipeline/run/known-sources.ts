/** Which sources need not be loaded: those of the lake, and those that the run has loaded itself. By content. */

import type { Content } from '../../contract/objects.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { knownByBytes, sourceKey } from '../../manifest/loaded-sources.ts'

const IN_LAKE = 'the lake holds it already (--again loads it once more)'

export class KnownSources {
  readonly #inLake: ReadonlySet<string>
  readonly #inRun = new Map<string, string>()

  constructor(inLake: ReadonlySet<string>) {
    this.#inLake = inLake
  }

  reasonToSkip(source: Source, { sha256 }: Fingerprint, contents: readonly Content[]): string | undefined {
    if (!knownByBytes(source)) return undefined
    for (const key of contents.map((content) => sourceKey(content, sha256))) {
      if (this.#inLake.has(key)) return IN_LAKE
      // Not even to be loaded again: partitions of equal bytes have the same files.
      const twin = this.#inRun.get(key)
      if (twin !== undefined) return `it is equal to "${twin}"`
    }
    return undefined
  }

  add(source: Source, { sha256 }: Fingerprint, content: Content): void {
    if (knownByBytes(source)) this.#inRun.set(sourceKey(content, sha256), source.name)
  }
}
