/**
 * Finds the sources that need not be loaded, those of the lake and those that the run has loaded itself, by content; and files that cannot
 * be read to their end, which --skip-bad-files leaves out.
 */

import type { Content } from '../../contract/objects.ts'
import { type ErrorCode, ToolkitError } from '../../core/errors.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { ALREADY_LOADED, discardedText, kindOf } from '../../core/source-kinds.ts'
import { compressionOfName } from '../../decode/decompress.ts'
import { knownByBytes } from '../../manifest/form/sources.ts'
import type { SourceIndex } from '../../manifest/snapshots/source-index.ts'

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
      if (await this.#inLake?.holds(content, sha256)) return ALREADY_LOADED
      const at = await this.#inLake?.discardedAt(content, sha256)
      if (at !== undefined) return discardedText(at)
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

/** A compressed file has some bytes at least: one without is no empty file that was loaded before, it is truncated. */
export const isCutToNothing = ({ name, decodeName = name }: Source, { bytes }: Fingerprint): boolean =>
  bytes === 0 && compressionOfName(decodeName) !== undefined

/** The hash of a source that is known by its bytes, else the code of its error; nothing of others. */
export const readOf = (
  source: Pick<Source, 'kind' | 'excluded'>,
  fingerprint: Fingerprint | undefined,
  error: ToolkitError | undefined,
): readonly string[] => {
  const read =
    knownByBytes(source) && source.excluded === undefined ? (fingerprint?.sha256 ?? error?.code) : undefined
  return read === undefined ? [] : [read]
}

/** A file that a run has left out. Nothing of it is recorded as loaded: the next run takes it. */
export interface LeftOut {
  readonly source: string
  readonly code: ErrorCode
  readonly reason: string
}

/** Errors of one file that say nothing of the others. */
export const CODES_OF_ONE_FILE: readonly ErrorCode[] = [
  'SOURCE_NOT_FOUND',
  'SOURCE_UNREADABLE',
  'SOURCE_CHANGED',
  'SOURCE_FORM',
  'DOCUMENT_DAMAGED',
  'CONTENT_UNKNOWN',
  'DECODE_DAMAGED',
  'DECODE_TRUNCATED',
  'DECODE_TRAILING',
  'DECODE_LIMIT',
  'DOWNLOAD_DAMAGED',
]

/** The error that a file is left out for. Not so of what can be read only once: it could not be loaded later. */
export const badFile = (source: Pick<Source, 'kind'>, error: unknown): ToolkitError | undefined =>
  kindOf(source).mayBeLeftOut && error instanceof ToolkitError && CODES_OF_ONE_FILE.includes(error.code)
    ? error
    : undefined
