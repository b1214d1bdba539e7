/** Every file below a year's lake: listed by a kept snapshot, or of a kind that is known to be there. */

import { readdir, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { verify } from '../../src/jobs/verify.ts'
import { listManifest, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'

export const filesBelow = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))

export const countFiles = async (folder: string): Promise<{ files: number; bytes: number }> => {
  const paths = await filesBelow(folder)
  let bytes = 0
  for (const path of paths) bytes += (await stat(join(folder, path))).size
  return { files: paths.length, bytes }
}

/** Of the manifest and the views; published tables have logs and files of their own, which `verify` knows. */
const KNOWN = [
  /^_manifest\/\d{8}\.(json|sha256|oldest)$/,
  /^_manifest\/(lake-id|discarded)\.json$/,
  /^_manifest\/parts\/[-0-9A-Za-z]+\.(?:jsonl|parquet)$/,
  /^lake\.(duckdb|ducklake)(\.sha256)?$/,
  /^published\/(delta|iceberg|ducklake)\/\w+[/.]/,
  /^\w+\/(_delta_log|metadata)\//,
]

const listedBy = async (lake: string): Promise<ReadonlySet<string>> => {
  const listed = new Set<string>()
  for (const number of (await listManifest(lake)).snapshots) {
    const { partitions, files, merged = [] } = await readSnapshot(lake, number)
    for (const { path } of [...[...partitions, ...merged].flatMap((one) => one.files), ...files])
      listed.add(path)
  }
  return listed
}

/** After a gc. @param held run of the load that is held back, which stays */
export const checkFiles = async (lake: string, held?: string): Promise<readonly string[]> => {
  const listed = await listedBy(lake)
  const found = await filesBelow(lake)
  const there = new Set(found)
  const wrong = found
    .filter((path) => !listed.has(path) && !KNOWN.some((kind) => kind.test(path)))
    .filter((path) => held === undefined || !(path.includes(held) || path === '_manifest/held.json'))
    .map((path) => `"${path}" is left over`)
  for (const path of listed) if (!there.has(path)) wrong.push(`"${path}" is listed and is not there`)
  const { problems, notes } = await verify({ lake })
  const said = notes.filter((note) => held === undefined || !note.includes(held))
  return [...wrong, ...[...problems, ...said].map((one) => `verify: ${JSON.stringify(one)}`)]
}
