/** What of a lake stands as earlier releases wrote it. */

import { RATES_PATH } from '../../lake/lake/layout.ts'
import { publishedHashPath, recordedHash } from '../../lake/lake/published-hash.ts'
import { ratesFileText, readRatesFile } from '../../lake/rates/rates-file.ts'
import { isLakeFileNewest } from '../../manifest/lake-file.ts'
import { NEWEST_FORMAT } from '../../manifest/root-form.ts'
import { readFormat } from '../../manifest/snapshots.ts'
import { unhashedFiles } from '../../manifest/verify-published.ts'
import { publishedTables } from '../../publish/table-files.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { type PublishSessionOptions, withPublishContext } from '../targets/publish-session.ts'
import { FORMATS, publishedFormats, type TableFormatName } from '../targets/table-formats.ts'

/** What of a lake is brought to the newest form, in this order. */
export type UpgradedPart = 'rates' | 'manifest' | 'hashes' | 'publications' | 'views'

/** One thing that stands in an earlier form. */
export interface UpgradeChange {
  readonly part: UpgradedPart
  /** What it is, in words. */
  readonly is: string
  /** What it is afterwards. */
  readonly becomes: string
}

/** The lake's rates where they have no hash yet. */
const unhashedRates = async (lake: string): Promise<string | null> => {
  const bytes = await storageOf(lake).read(RATES_PATH)
  const read = bytes === null ? null : readRatesFile(bytes)
  return read?.kind === 'unhashed' ? read.csvText : null
}

export const hashRates = async (lake: string): Promise<void> => {
  const csvText = await unhashedRates(lake)
  if (csvText !== null) await storageOf(lake).replace(RATES_PATH, ratesFileText(csvText))
}

/** Puts beside each published file that has none the hash of what stands there. */
export const hashPublished = async (lake: string): Promise<void> => {
  const storage = storageOf(lake)
  for (const path of await unhashedFiles(lake)) {
    const sha256 = await storage.examine(path, {}, async (hash) => hash.sha256)
    if (sha256 !== null) await storage.create(publishedHashPath(path), recordedHash(sha256))
  }
}

/** The formats in which tables of all versions are published with the columns of an earlier release. */
export const earlierFormats = async (options: PublishSessionOptions): Promise<readonly TableFormatName[]> => {
  const formats = await publishedFormats(options.lake, 'all')
  if (formats.length === 0) return []
  return withPublishContext(options, async (context) => {
    const earlier = new Set<TableFormatName>()
    for (const name of formats) {
      const { open, isPublished } = await FORMATS[name]('all')
      for (const table of publishedTables())
        if ((await isPublished(options.lake, table)) && (await open(context, table))?.hasEarlierColumns)
          earlier.add(name)
    }
    return [...earlier]
  })
}

/** @returns nothing for a lake that this release has written @throws {ToolkitError} `LAKE_NEWER`, `SNAPSHOT_DAMAGED` */
export const findEarlier = async (
  options: PublishSessionOptions,
  snapshot: number,
): Promise<readonly UpgradeChange[]> => {
  const { lake } = options
  const changes: UpgradeChange[] = []
  if ((await unhashedRates(lake)) !== null)
    changes.push({ part: 'rates', is: `"${RATES_PATH}" without a hash`, becomes: 'with its hash' })
  const format = await readFormat(lake, snapshot)
  if (format !== NEWEST_FORMAT)
    changes.push({
      part: 'manifest',
      is: `snapshot ${snapshot} in format ${format}`,
      becomes: `snapshot ${snapshot + 1} in format ${NEWEST_FORMAT}, of the same records`,
    })
  const { length } = await unhashedFiles(lake)
  if (length > 0)
    changes.push({ part: 'hashes', is: `${length} published files without a hash`, becomes: 'with hashes' })
  for (const name of await earlierFormats(options))
    changes.push({
      part: 'publications',
      is: `${name} tables of all versions without snapshot, run and loaded_at`,
      becomes: 'with these columns, as one more version',
    })
  if (!(await isLakeFileNewest(lake)))
    changes.push({
      part: 'views',
      is: '"lake.duckdb" missing or of earlier views',
      becomes: 'with these views',
    })
  return changes
}
