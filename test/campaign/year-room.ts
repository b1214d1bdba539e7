/** The room that a year's lake takes after a gc: what its kept snapshots list, and beside that no more than these need. */

import { readdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { listManifest } from '../../src/manifest/snapshots.ts'

interface Room {
  files: number
  bytes: number
}

/** A published Iceberg table keeps the metadata of so many commits, as its `metadata-log` says, each with a hash. */
const METADATA_KEPT = 100
/** Manifest, list, log, deletes, each with a hash, of a snapshot in a published table. */
const FILES_OF_SNAPSHOT = 8
/** Checkpoints, copies of rows, the newest version's name. */
const FILES_OF_TABLE = 60
const MANIFEST_BYTES_OF_SNAPSHOT = 60_000
/** What the newest snapshot says of each commit since the first: its run, sources and drift. */
const MANIFEST_BYTES_OF_COMMIT = 4_000
const VIEWS_BYTES = 4_000_000

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
      const most = 2 * METADATA_KEPT + FILES_OF_SNAPSHOT * kept + FILES_OF_TABLE
      if (room.files > most) wrong.push(`"${kind}" has ${room.files} files for ${kept} snapshots`)
    }
  }
  if (bytes.manifest > MANIFEST_BYTES_OF_SNAPSHOT * kept + MANIFEST_BYTES_OF_COMMIT * commits)
    wrong.push(`the manifest of ${kept} snapshots after ${commits} commits has ${bytes.manifest} bytes`)
  if (bytes.views > VIEWS_BYTES) wrong.push(`the views have ${bytes.views} bytes`)
  const cells = Object.entries(bytes).map(([name, count]) => `${name} ${(count / 1e6).toFixed(1)}`)
  return { wrong, text: `${cells.join(', ')} MB, ${kept} snapshots` }
}
