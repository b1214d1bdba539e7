/** The sources of loads that were discarded, by their bytes: the same files are not loaded again each night. */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import { DISCARDED_PATH } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'
import { anyText, fits, list, objectOf, oneOf, optional, sha256 } from '../../support/json-form.ts'

export interface DiscardedSource {
  readonly content: Content
  readonly source: string
  readonly sha256: string
  /** The batch file of a service that the source is, if it is one. */
  readonly batch?: { readonly service: string; readonly id: string } | undefined
  readonly run: string
  /** ISO 8601, UTC. */
  readonly at: string
}

const DOCUMENT = objectOf({
  sources: list(
    objectOf({
      ...{ content: oneOf(['companies', 'relations']), sha256 },
      ...{ source: anyText, run: anyText, at: anyText },
      batch: optional(objectOf({ service: anyText, id: anyText })),
    }),
  ),
})

/** In the order in which they were discarded. @throws {ToolkitError} `LAKE_DAMAGED` */
export const readDiscarded = async (lake: string): Promise<readonly DiscardedSource[]> => {
  const bytes = await storageOf(lake).read(DISCARDED_PATH)
  if (bytes === null) return []
  const read = unseal(bytes)
  if (read.kind !== 'damaged' && fits(DOCUMENT, read.value)) return read.value.sources
  throw new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read "${DISCARDED_PATH}" of lake "${lake}": it is not what was written; remove it: sources of discarded loads are loaded again then`,
    { lake, path: DISCARDED_PATH },
  )
}

/** Adds sources; one that is there stays as it is. @throws {ToolkitError} as `readDiscarded`, `DISK_FULL`, `WRITE_FAILED` */
export const addDiscarded = async (lake: string, added: readonly DiscardedSource[]): Promise<void> => {
  const before = await readDiscarded(lake)
  const known = new Set(before.map((one) => `${one.content} ${one.sha256}`))
  const fresh = added.filter((one) => !known.has(`${one.content} ${one.sha256}`))
  if (fresh.length === 0) return
  await writeDiscarded(lake, [...before, ...fresh])
}

const writeDiscarded = (lake: string, sources: readonly DiscardedSource[]): Promise<void> =>
  storageOf(lake).replace(DISCARDED_PATH, `${seal(JSON.stringify({ sources }))}\n`)

/** Gives the sources other names, where these tell of somebody. @throws {ToolkitError} as `addDiscarded` */
export const cleanDiscarded = async (lake: string, clean: (name: string) => string): Promise<void> => {
  const before = await readDiscarded(lake)
  const after = before.map((one) => ({ ...one, source: clean(one.source) }))
  if (after.some(({ source }, at) => source !== before[at]?.source)) await writeDiscarded(lake, after)
}
