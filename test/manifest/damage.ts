/** Ways to damage a file, and the files of a lake. */

import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** A small seeded generator (mulberry32), so that a failure can be repeated. */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Paths of all files of a lake, below its folder. */
export const filesOf = async (lake: string): Promise<string[]> => {
  const entries = await readdir(lake, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(lake, join(entry.parentPath, entry.name)))
    .sort()
}

export const flipBit = async (path: string, offset: number, bit: number): Promise<void> => {
  const bytes = await readFile(path)
  bytes[offset] = (bytes[offset] ?? 0) ^ (1 << bit)
  await writeFile(path, bytes)
}

/** Runs `check` on a damaged file and puts the file back. */
export const whileDamaged = async (
  path: string,
  damage: (sizeBytes: number) => Promise<void>,
  check: () => Promise<void>,
): Promise<void> => {
  const bytes = await readFile(path)
  await damage(bytes.length)
  await check()
  await writeFile(path, bytes)
}

export const cutTo = (path: string, sizeBytes: number): Promise<void> => truncate(path, sizeBytes)
export const remove = (path: string): Promise<void> => rm(path)
