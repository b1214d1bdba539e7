/** The room that a year's lake takes after a gc: what its kept snapshots list, and beside that no more than these need. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { listManifest } from '../../src/manifest/snapshots/snapshots.ts'
import { MANIFEST_LIST_SCHEMA, type ManifestFileRecord } from '../../src/publish/iceberg/manifest-schemas.ts'
import { decodeAvro } from '../../src/publish/iceberg/manifests.ts'
import { readMetadata } from '../publish/iceberg/iceberg-lake.ts'

interface Room {
  files: number
  bytes: number
}

/** A published Delta table keeps the log of its last commits, each with a hash. */
const DELTA_COMMITS_KEPT = 100
/** Log and deletes, each with a hash, of a snapshot in a published Delta table. */
const FILES_OF_SNAPSHOT = 8
/** Checkpoints, copies of rows, the newest version's name. */
const FILES_OF_TABLE = 60
const MANIFEST_BYTES_OF_SNAPSHOT = 60_000
/** What the newest snapshot says of each commit since the first: its run, sources and drift. */
const MANIFEST_BYTES_OF_COMMIT = 4_000
/** Of `lake.duckdb` and `lake.ducklake`, whose tables take a block each: 36 tables, ten of them for history; two blocks may be free. */
const VIEWS_BYTES = 4_260_000
/** The catalog has the files of each snapshot that is kept. */
const VIEWS_BYTES_OF_SNAPSHOT = 50_000
/** Both have the runs, sources and drift of each commit since the first, as the manifest does. */
const VIEWS_BYTES_OF_COMMIT = 6_000

/** `companies/metadata/_hashes/…` → `companies/metadata`; what is no publication, the manifest or the views is data. */
const kindOf = (path: string): string => {
  const published = /^(published\/\w+\/\w+|\w+\/(?:_delta_log|metadata))\//.exec(path)?.[1]
  if (published) return published
  if (path.startsWith('_manifest/')) return 'manifest'
  return dirname(path) === '.' ? 'views' : 'data'
}

const roomOf = async (lake: string): Promise<ReadonlyMap<string, Room>> => {
  const rooms = new Map<string, Room>()
  for (const entry of await readdir(lake, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const kind = kindOf(relative(lake, path).split(sep).join('/'))
    const room = rooms.get(kind) ?? { files: 0, bytes: 0 }
    rooms.set(kind, room)
    room.files += 1
    room.bytes += (await stat(path)).size
  }
  return rooms
}

/** The metadata files that an Iceberg table's newest metadata leads to, each with a hash, and the newest version's number. */
const icebergFiles = async (lake: string, table: string): Promise<number> => {
  const metadata = await readMetadata(lake, table)
  const { snapshots = [], 'metadata-log': log = [] } = metadata
  const manifests = new Set<string>()
  for (const snapshot of snapshots) {
    const list = await readFile(join(lake, table, 'metadata', basename(snapshot['manifest-list'])))
    for (const { manifest_path } of await decodeAvro<ManifestFileRecord>(list, MANIFEST_LIST_SCHEMA))
      manifests.add(basename(manifest_path))
  }
  return 2 * (1 + log.length + snapshots.length + manifests.size) + 1
}

const mostFiles = async (lake: string, kind: string, kept: number): Promise<number> =>
  basename(kind) === 'metadata'
    ? icebergFiles(lake, dirname(kind))
    : 2 * DELTA_COMMITS_KEPT + FILES_OF_SNAPSHOT * kept + FILES_OF_TABLE

export interface CheckedRoom {
  readonly wrong: readonly string[]
  /** Megabytes of data, of publications, of the manifest and of the views. */
  readonly text: string
}

export const checkRoom = async (lake: string): Promise<CheckedRoom> => {
  const rooms = await roomOf(lake)
  const { snapshots } = await listManifest(lake)
  const kept = snapshots.length
  const commits = Math.max(0, ...snapshots)
  const wrong: string[] = []
  const bytes = { data: 0, publications: 0, manifest: 0, views: 0 }
  for (const [kind, room] of rooms) {
    if (kind === 'data' || kind === 'manifest' || kind === 'views') bytes[kind] += room.bytes
    else {
      bytes.publications += room.bytes
      const most = await mostFiles(lake, kind, kept)
      if (room.files > most)
        wrong.push(`"${kind}" has ${room.files} files for ${kept} snapshots, expected at most ${most}`)
    }
  }
  if (bytes.manifest > MANIFEST_BYTES_OF_SNAPSHOT * kept + MANIFEST_BYTES_OF_COMMIT * commits)
    wrong.push(`the manifest of ${kept} snapshots after ${commits} commits has ${bytes.manifest} bytes`)
  if (bytes.views > VIEWS_BYTES + VIEWS_BYTES_OF_SNAPSHOT * kept + VIEWS_BYTES_OF_COMMIT * commits)
    wrong.push(`the views of ${kept} snapshots after ${commits} commits have ${bytes.views} bytes`)
  const cells = Object.entries(bytes).map(([name, count]) => `${name} ${(count / 1e6).toFixed(1)}`)
  return { wrong, text: `${cells.join(', ')} MB, ${kept} snapshots` }
}
