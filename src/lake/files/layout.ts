/** Paths in a lake, and the small files that hold the hashes of published ones. Paths are below the lake's folder, with `/`; `inLake` makes them absolute. */

import { join } from 'node:path'
import { TABLE_FORMAT_NAMES, TABLE_FORMATS, type TableFormatName } from '../../core/table-formats.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, sha256Of, unseal } from '../../support/hash.ts'
import type { RandomBytes } from '../../support/run-ids.ts'

export const MANIFEST_FOLDER = '_manifest'
export const RUNS_FOLDER = '_runs'
/** Serving indexes: made from the lake, and made again when they are gone. */
export const SERVE_FOLDER = '_serve'

const numbered = (number: number): string => String(number).padStart(8, '0')

/** `00000012.json`: an immutable snapshot; the highest number is the lake. */
export const snapshotName = (number: number): string => `${numbered(number)}.json`
export const snapshotPath = (number: number): string => `${MANIFEST_FOLDER}/${snapshotName(number)}`

/** The second record of a commit: the hash of the snapshot's file. `sha256sum -c *.sha256` checks them all. */
export const recordPath = (number: number): string => `${MANIFEST_FOLDER}/${numbered(number)}.sha256`

/** Parts of snapshots: immutable files that name the run which wrote them, shared by all snapshots that list them. */
const PARTS_NAME = 'parts'
export const PARTS_FOLDER = `${MANIFEST_FOLDER}/${PARTS_NAME}`
export const partPath = (name: string): string => `${PARTS_FOLDER}/${name}`
const PART_NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{6})-[0-9a-f]{16}\.(?:jsonl|parquet)$/
/** `<run>-<64 random bits>.jsonl`, of record versions `.parquet`: a name that nobody else has. */
export const partName = (run: string, random: RandomBytes, ending: 'jsonl' | 'parquet' = 'jsonl'): string =>
  `${run}-${Buffer.from(random(8)).toString('hex')}.${ending}`
/** The run that wrote a part by its name; `null` for any other name. */
export const runOfPart = (name: string): string | null => PART_NAME.exec(name)?.[1] ?? null

/** Says that gc removed the snapshots below this number. The highest one counts. */
export const oldestPath = (number: number): string => `${MANIFEST_FOLDER}/${numbered(number)}.oldest`

export const runPath = (run: string): string => `${RUNS_FOLDER}/${run}`
export const stagingPath = (run: string): string => `${runPath(run)}/staging`

/** Path at which a run stages a file that will stand in a table. */
export const stagedPath = (
  run: string,
  { table, path }: { readonly table: string; readonly path: string },
): string => `${stagingPath(run)}/${table}/${path.slice(path.lastIndexOf('/') + 1)}`

/** The id of the lake, made before its first snapshot. */
export const LAKE_ID_PATH = `${MANIFEST_FOLDER}/lake-id.json`
/** The snapshot that is held back. */
export const HELD_PATH = `${MANIFEST_FOLDER}/held.json`
/** The sources of loads that were discarded. */
export const DISCARDED_PATH = `${MANIFEST_FOLDER}/discarded.json`
const DOCUMENTS: readonly string[] = [LAKE_ID_PATH, HELD_PATH, DISCARDED_PATH]

/** Whether an entry of `_manifest` is a document of the lake beside its snapshots. */
export const isDocumentName = (name: string): boolean => DOCUMENTS.includes(`${MANIFEST_FOLDER}/${name}`)

/** Rates that a person loaded. */
export const RATES_PATH = '_rates/rates.csv'

/** A DuckDB file with views and macros, in a lake in a folder; and its SHA-256, as `sha256sum -c` reads it. */
export const LAKE_FILE = 'lake.duckdb'
export const LAKE_FILE_RECORD = `${LAKE_FILE}.sha256`

/** A DuckLake catalog of the kept snapshots; and its SHA-256. */
export const CATALOG_FILE = 'lake.ducklake'
export const CATALOG_FILE_RECORD = `${CATALOG_FILE}.sha256`

/** Folder of the serving index of a snapshot. */
export const servePath = (snapshot: number): string => `${SERVE_FOLDER}/${numbered(snapshot)}`

/** Folder of a run's files of one table. */
export const loadPath = (table: string, run: string): string => `${table}/load=${run}`

/** Batch files for download, a folder for the snapshot they were made from: `_batches/00000012`. */
export const BATCHES_FOLDER = '_batches'
export const batchesPath = (snapshot: number): string => `${BATCHES_FOLDER}/${numbered(snapshot)}`

/** The snapshot of a folder in `_serve` or `_batches`; `null` for any other name. */
export const parseMadeName = (name: string): number | null => {
  const number = Number(/^\d{8,}$/.exec(name)?.[0])
  return number > 0 && name === numbered(number) ? number : null
}

/**
 * Absolute path on this machine of a path in a lake: of a lake in a bucket where it is worked on, and where it stands
 * once it was fetched.
 */
export const inLake = (lake: string, path: string): string => join(storageOf(lake).local, ...path.split('/'))

export interface ManifestName {
  readonly kind: 'snapshot' | 'record' | 'oldest'
  readonly number: number
}

const KINDS = new Map<string, ManifestName['kind']>([
  ['json', 'snapshot'],
  ['sha256', 'record'],
  ['oldest', 'oldest'],
])
const NAME = /^(\d{8,})\.(json|sha256|oldest)$/

/** Whether an entry of `_manifest` is the folder of parts. */
export const isPartsFolder = (name: string): boolean => name === PARTS_NAME

/** The kind and number of a file in `_manifest` by its name; `null` for any other file. */
export const parseManifestName = (name: string): ManifestName | null => {
  const match = NAME.exec(name)
  const number = Number(match?.[1])
  const kind = KINDS.get(match?.[2] ?? '')
  return kind && number > 0 && name.startsWith(`${numbered(number)}.`) ? { kind, number } : null
}

/** Whether a path stays inside the lake and names a table's file: nothing like `..`, no hidden folder first. */
export const isDataPath = (path: string): boolean =>
  /^[^._/\\\0][^/\\\0]*(\/[^/\\\0]+)+$/.test(path) &&
  !path.split('/').some((part) => part === '.' || part === '..')

/** Folders of a table where logs of table formats are published. */
export const PUBLISHED_IN_TABLE = TABLE_FORMAT_NAMES.map((name) => TABLE_FORMATS[name].logFolder)

/** The folders of tables of current rows, by format, each in a folder of its own: metadata and files that are not the lake's. */
export const PUBLISHED_FOLDER = 'published'
export const currentFolder = (format: TableFormatName): string => `${PUBLISHED_FOLDER}/${format}`

/** Files of superseded rows that a DuckLake catalog names. */
export const DELETES_FOLDER = `${PUBLISHED_FOLDER}/ducklake`
export const deleteFilePath = (sha256: string): string => `${DELETES_FOLDER}/${sha256}.parquet`

/** In the folder of what is published, so that they go with it. Readers of both formats pass it by. */
export const HASHES_FOLDER = '_hashes'
const ENDING = '.hash'
const HASH_PATH = /^(.*)\/_hashes\/([^/]+)\.hash$/

export const publishedHashPath = (path: string): string => {
  const at = path.lastIndexOf('/')
  return `${path.slice(0, at)}/${HASHES_FOLDER}${path.slice(at)}${ENDING}`
}

/** The published file of a hash's path; `null` for any other path. */
export const publishedPathOf = (path: string): string | null => {
  const [, folder, name] = HASH_PATH.exec(path) ?? []
  return folder === undefined ? null : `${folder}/${name}`
}

/** The file of a published file's hash, sealed, so that damage to it is distinguished from damage to the published file. */
export const publishedHash = (data: string | Uint8Array): string => recordedHash(sha256Of(data))

/** The same of a file whose hash is known. @param sha256 in hex, lower case */
export const recordedHash = (sha256: string): string => `${seal(JSON.stringify({ sha256 }))}\n`

/** The hash that stands in such a file; `undefined` where it was changed or cut. */
export const readPublishedHash = (bytes: Buffer): string | undefined => {
  const read = unseal(bytes)
  return read.kind === 'sealed' && 'sha256' in read.value ? String(read.value.sha256) : undefined
}
