/** The manifests of a table's current snapshot, and the data files that they name, by path. */

import type { Storage } from '../../storage/storage.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import type { ManifestFileRecord } from './manifest-schemas.ts'
import { decodeManifest, decodeManifestList, hasLiveFiles, type SettledEntry } from './manifests.ts'
import { absolutePath, metadataFolder, pathInLake } from './table-layout.ts'
import { conflict, currentSnapshot, type IcebergSnapshot, type TableMetadata } from './table-metadata.ts'

export interface LiveFile {
  readonly entry: SettledEntry
  /** Path of the manifest that names it. */
  readonly manifest: string
}

/** Keyed by absolute path. */
export type LiveFiles = ReadonlyMap<string, LiveFile>

const MANIFESTS_AT_ONCE = 16

const readBytes = async (storage: Storage, root: string, absolute: string): Promise<Buffer> => {
  const path = pathInLake(storage, absolute)
  const bytes = path === undefined ? null : await storage.read(path)
  if (bytes === null) throw conflict(root, `"${absolute}", which its metadata names, is missing`)
  return bytes
}

const decoding = async <T>(root: string, absolute: string, decode: () => Promise<T>): Promise<T> => {
  try {
    return await decode()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw conflict(root, `"${absolute}" is damaged or was made by someone else: ${reason}`)
  }
}

/** The manifests of a snapshot. */
export const readManifestList = async (
  storage: Storage,
  root: string,
  snapshot: IcebergSnapshot,
): Promise<readonly ManifestFileRecord[]> => {
  const path = snapshot['manifest-list']
  const bytes = await readBytes(storage, root, path)
  return decoding(root, path, () => decodeManifestList(bytes))
}

/** Most of them are not opened; all of them have to be there. @throws {ToolkitError} PUBLISH_CONFLICT */
const checkThere = async (
  storage: Storage,
  root: string,
  manifests: readonly ManifestFileRecord[],
): Promise<void> => {
  const listed = await storage.list(metadataFolder(root))
  const sizes = new Map(listed.map(({ path, bytes }) => [absolutePath(storage, path), bytes]))
  for (const { manifest_path, manifest_length } of manifests)
    if (sizes.get(manifest_path) !== manifest_length)
      throw conflict(
        root,
        sizes.has(manifest_path)
          ? `"${manifest_path}" has ${sizes.get(manifest_path)} bytes, expected ${manifest_length}`
          : `"${manifest_path}", which its metadata names, is missing`,
      )
}

/** The manifests of a table's current snapshot that name files. @throws {ToolkitError} PUBLISH_CONFLICT */
export const readLiveManifests = async (
  storage: Storage,
  root: string,
  metadata: TableMetadata | null,
): Promise<readonly ManifestFileRecord[]> => {
  const snapshot = metadata && currentSnapshot(metadata)
  if (!snapshot) return []
  const manifests = (await readManifestList(storage, root, snapshot)).filter(hasLiveFiles)
  await checkThere(storage, root, manifests)
  return manifests
}

/** The files that some manifests name. */
export const readLiveFiles = async (
  storage: Storage,
  root: string,
  manifests: readonly ManifestFileRecord[],
): Promise<LiveFiles> => {
  const files = new Map<string, LiveFile>()
  const read = await sideBySide(manifests, MANIFESTS_AT_ONCE, async (manifest) => {
    const path = manifest.manifest_path
    const bytes = await readBytes(storage, root, path)
    const entries = await decoding(root, path, () => decodeManifest(bytes, manifest))
    return entries.map((entry): LiveFile => ({ entry, manifest: path }))
  })
  for (const some of read) for (const file of some) files.set(file.entry.data_file.file_path, file)
  return files
}
