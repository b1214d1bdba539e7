/** The source of raw bytes: a file of a batch, standard input, a window of a search, a download. */

import type { Content } from '../contract/objects.ts'
import type { Block } from './lines.ts'
import type { DateRange } from './partition.ts'
import type { RecordsKindName, SourceFacts } from './source-kinds.ts'

/** Stands for the begin of the load among the instants of sources. */
export const AS_OF_BEGIN = 'begin'

/** Raw bytes of records, read once or more: a name and `open` are enough. */
export interface Source {
  readonly kind: RecordsKindName
  /** Name as the person gave it. */
  readonly name: string
  /**
   * Names the unit of work where content does not: two windows may be equal bytes, and a download need not be
   * repeated to know that it was loaded. The same in each attempt of a run, different from all others of it.
   */
  readonly key?: string
  /** Name whose extension says how the bytes are compressed, where that of `name` does not. */
  readonly decodeName?: string
  /** Content of its lines, where that is known before reading. */
  readonly content?: Content
  /** Found in a folder, not named itself: skipped, with a note, where it holds no records. */
  readonly found?: true
  /** Why it is not loaded, where that is known from its place; it stands for files that were found and left out. */
  readonly excluded?: string
  /** A note to print before it is loaded. */
  readonly notice?: string
  /** Length in bytes as stored, where it is known before reading; for the remaining time. */
  readonly sizeBytes?: number
  /**
   * Length and hash of the stored bytes, where they can be read twice. A source without it cannot be resumed,
   * and is compared with the manifest only when it has been read. May take long (a download); it is asked for
   * while the source before is being loaded, and not at all where a resumed run has loaded the `key` whole.
   */
  readonly fingerprint?: (signal?: AbortSignal) => Promise<Fingerprint>
  /** The stored bytes, once; a chunk may be read until the next one is asked for. @throws {ToolkitError} SOURCE_UNREADABLE, SOURCE_CHANGED */
  readonly open: (signal?: AbortSignal) => AsyncIterable<Buffer>
  /** The blocks to load: from `from` to before `to`, of `of` that it has. @default all */
  readonly range?: { readonly from: number; readonly to: number; readonly of: number }
  /** The source's lines as blocks, where they are not decoded from its bytes. */
  readonly blocks?: () => AsyncIterable<Block>
  /** The small sources that it consists of: their lines stand in one block, in this order. */
  readonly shared?: readonly SharedPart[]
  /**
   * The instant at which the service said what it holds, where that is known before it is read: ISO 8601 in UTC; `begin`: that
   * of the load. @default the latest stamp in it
   */
  readonly asOf?: string
  /** Further facts for the manifest, known once the fingerprint is. */
  readonly details?: () => SourceDetails
  /** Called when nobody will open it again: all its partitions are journaled, or it is skipped. */
  readonly release?: () => Promise<void>
  /** Called when the run ends, early or not: stops what is fetched for it and others, and waits until nobody writes. */
  readonly stop?: () => Promise<void>
}

/** A small source among several that are loaded together. */
export interface SharedPart {
  readonly kind: Source['kind']
  readonly name: string
  readonly fingerprint: Fingerprint
  readonly asOf?: string | undefined
  /** Offset at which its lines begin in the bytes of the block. */
  readonly from: number
}

export interface SourceDetails extends SourceFacts {
  readonly requested?: DateRange['requested']
  /** As of the source, where only reading it shows it. */
  readonly asOf?: string
}

/** Length and hash of what a source holds. */
export interface Fingerprint {
  readonly bytes: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
}
