/** What a lake takes of the records, since when: each declaration from the first run on that was loaded with it. */

import type { SnapshotHead } from '../core/partition.ts'
import { isSameTake, KEPT_TAKE, type KeptTake, takesAll } from '../lake/take/declaration.ts'
import { anyText, count, list, shapeOf } from '../support/json-form.ts'

export interface Taken {
  /** The first run that was loaded so, and the snapshot that shows it. */
  readonly run: string
  readonly snapshot: number
  readonly take: KeptTake
}

/** Behind each other, oldest first; before the first one everything was taken. */
export interface WithTaken {
  readonly taken?: readonly Taken[] | undefined
}

export const TAKEN = list(shapeOf<Taken>({ run: anyText, snapshot: count, take: KEPT_TAKE }))

/** The declaration that the newest load of a lake had; empty where everything is taken. */
export const newestTake = (root: WithTaken | null): KeptTake => root?.taken?.at(-1)?.take ?? {}

/** What the next snapshot says. */
export const takenWith = (
  root: WithTaken | null,
  { run, snapshot }: Pick<SnapshotHead, 'run' | 'snapshot'>,
  take: KeptTake,
): WithTaken => {
  const { taken = [] } = root ?? {}
  const isNew = !isSameTake(newestTake(root), take)
  const all = isNew ? [...taken, { run, snapshot, take }] : taken
  return all.length > 0 ? { taken: all } : {}
}

/** The declarations by which rows of a lake may lack something, each once. */
export const lackingTakes = (root: WithTaken | null): readonly KeptTake[] =>
  (root?.taken ?? []).flatMap(({ take }) => (takesAll(take) ? [] : [take]))
