/** What passes between the thread that feeds and those that check. */

import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/block.ts'
import type { BlockMessage } from '../rows/block-rows.ts'
import type { SeenSets } from '../rows/seen-sets.ts'
import type { CheckedBlock } from './check-block.ts'
import type { CheckOptions } from './drift/check-options.ts'

/** What a thread is started with. */
export type CheckSettings = CheckOptions

export interface CheckTask {
  readonly content: Content
  readonly listAllItems: boolean
  /** The bytes are shared memory: neither side copies them. */
  readonly block: Omit<Block, 'release' | 'bytes'> & { readonly bytes: Uint8Array }
  /** Rows whose memory is used again. */
  readonly rows: BlockMessage | undefined
}

/** Names that a set has got since the answer before. */
export interface MoreNames {
  readonly names: readonly string[]
  readonly full: boolean
}

export interface CheckAnswer {
  readonly checked: Omit<CheckedBlock, 'parts'>
  /** Numbers of the records of each part. */
  readonly parts: readonly (readonly number[])[]
  readonly rows: BlockMessage
  readonly names: Readonly<Record<keyof SeenSets, MoreNames>>
}
