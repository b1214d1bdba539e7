/** Lakes published as Iceberg, and what their metadata says. Knows nothing of vitest: children use it too. */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PublishOptions } from '../../../src/options/interfaces.ts'
import {
  MANIFEST_LIST_SCHEMA,
  MANIFEST_SCHEMA,
  type ManifestEntryRecord,
  type ManifestFileRecord,
} from '../../../src/publish/iceberg/manifest-schemas.ts'
import { decodeAvro } from '../../../src/publish/iceberg/manifests.ts'
import type { IcebergSnapshot, TableMetadata } from '../../../src/publish/iceberg/table-metadata.ts'
import { type PublishSummary, publish } from '../../../src/targets/publish.ts'

const MEMORY_BYTES = 256 * 1024 ** 2

/** All versions, unless the options say otherwise. */
export const publishIceberg = (
  lake: string,
  options: Partial<PublishOptions> = {},
): Promise<PublishSummary> =>
  publish({ lake, formats: ['iceberg'], rows: ['all'], memoryBytes: MEMORY_BYTES, ...options })

export const metadataNames = async (lake: string, table: string): Promise<string[]> =>
  (await readdir(join(lake, table, 'metadata'))).sort()

/** Numbers of a table's metadata files, ascending. */
export const metadataNumbers = async (lake: string, table: string): Promise<number[]> =>
  (await metadataNames(lake, table))
    .flatMap((name) => /^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)

export const metadataFile = (lake: string, table: string, number: number): string =>
  join(lake, table, 'metadata', `v${number}.metadata.json`)

/** The newest metadata of a table. */
export const readMetadata = async (lake: string, table: string): Promise<TableMetadata> => {
  const newest = (await metadataNumbers(lake, table)).at(-1) ?? 0
  return JSON.parse(await readFile(metadataFile(lake, table, newest), 'utf8'))
}

/** Writes the newest metadata again, changed by someone else. */
export const changeMetadata = async (
  lake: string,
  table: string,
  change: (metadata: TableMetadata) => object,
): Promise<void> => {
  const newest = (await metadataNumbers(lake, table)).at(-1) ?? 0
  const changed = { ...(await readMetadata(lake, table)), ...change(await readMetadata(lake, table)) }
  await writeFile(metadataFile(lake, table, newest), JSON.stringify(changed))
  // Whoever else writes metadata knows nothing of our hashes.
  await rm(join(lake, table, 'metadata', '_hashes'), { recursive: true, force: true })
}

const readLocal = (uri: string): Promise<Buffer> => readFile(uri.replace(/^file:\/\//, ''))

export interface ReadManifest extends ManifestFileRecord {
  readonly entries: readonly ManifestEntryRecord[]
}

/** The manifests of a snapshot with their entries. */
export const readManifests = async (snapshot: IcebergSnapshot | undefined): Promise<ReadManifest[]> => {
  if (snapshot === undefined) throw new TypeError('There is no such snapshot')
  const list = await decodeAvro<ManifestFileRecord>(
    await readLocal(snapshot['manifest-list']),
    MANIFEST_LIST_SCHEMA,
  )
  return Promise.all(
    list.map(async (manifest) => ({
      ...manifest,
      entries: await decodeAvro<ManifestEntryRecord>(
        await readLocal(manifest.manifest_path),
        MANIFEST_SCHEMA,
      ),
    })),
  )
}

/** What all snapshots of a table say, without what differs from one publisher to the next: ids, names, times. */
export const tableText = async (lake: string, table: string): Promise<string> => {
  const { snapshots = [], schemas, properties } = await readMetadata(lake, table)
  const said = await Promise.all(
    snapshots.map(async (snapshot) => ({
      number: snapshot['sequence-number'],
      summary: snapshot.summary,
      manifests: (await readManifests(snapshot)).map(
        ({
          manifest_path: _path,
          manifest_length: _length,
          added_snapshot_id: _id,
          entries,
          ...manifest
        }) => ({
          ...manifest,
          entries: entries.map(({ snapshot_id: _snapshot, ...entry }) => entry),
        }),
      ),
    })),
  )
  return JSON.stringify({ said, schemas, properties })
}
