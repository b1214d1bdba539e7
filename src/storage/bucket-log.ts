/**
 * A log in a bucket, which knows no appending: an empty object `<path>`, and `<path>.lines/00000001` and on, each with
 * one line. Not below `<path>/`: endpoints over a file system cannot have a file and a folder of one name.
 */

import { ToolkitError } from '../core/errors.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { listBeginning } from './bucket-list.ts'
import type { ObjectStore } from './object-store.ts'
import { readWhole } from './read-object.ts'
import type { LineLog } from './storage.ts'
import { nameOf } from './store-paths.ts'

const { LINE_FEED } = JSON_BYTES

const LINES_AT_ONCE = 16
const DIGITS = 8

/** Lines count from 1. */
const lineName = (path: string, number: number): string =>
  `${path}.lines/${String(number).padStart(DIGITS, '0')}`

const missing = (store: ObjectStore, path: string, line: number): ToolkitError =>
  new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read log "${nameOf(store, path)}": line ${line} is missing, or the log is being removed just now`,
    { path, line },
  )

/** How many lines a log has; `null` where there is none. @throws {ToolkitError} `LAKE_DAMAGED` when one is missing */
const countLines = async (store: ObjectStore, path: string): Promise<number | null> => {
  const found = await listBeginning(store, path)
  const lines = found.filter((file) => file.path.startsWith(`${path}.lines/`))
  for (const [at, file] of lines.entries())
    if (file.path !== lineName(path, at + 1)) throw missing(store, path, at + 1)
  return lines.length > 0 || found.some((file) => file.path === path) ? lines.length : null
}

export const readLog = async (store: ObjectStore, path: string): Promise<readonly Buffer[] | null> => {
  const count = await countLines(store, path)
  if (count === null) return null
  const numbers = Array.from({ length: count }, (_, at) => at + 1)
  return await sideBySide(numbers, LINES_AT_ONCE, async (number) => {
    const bytes = await readWhole(store, lineName(path, number))
    if (bytes === null) throw missing(store, path, number)
    return bytes.at(-1) === LINE_FEED ? bytes.subarray(0, -1) : bytes
  })
}

export const openLog = async (
  store: ObjectStore,
  path: string,
  keepLines = Number.POSITIVE_INFINITY,
): Promise<LineLog> => {
  const found = await countLines(store, path)
  if (found === null) await store.putIfAbsent(path, Buffer.alloc(0))
  let count = found ?? 0
  // From the end and one by one: whenever this stops, what is left is a whole log.
  for (; count > keepLines; count -= 1) await store.delete([lineName(path, count)])
  let last: Promise<void> = Promise.resolve()
  const append = async (number: number, line: string): Promise<void> => {
    if (await store.putIfAbsent(lineName(path, number), Buffer.from(`${line}\n`))) return
    throw new ToolkitError(
      'STORAGE_FAILED',
      `Cannot append to log "${nameOf(store, path)}": another process wrote line ${number}, expected one writer`,
      { path, line: number },
    )
  }
  return {
    append: (line) => {
      count += 1
      const number = count
      last = last.then(() => append(number, line))
      return last
    },
    close: () => last.catch(() => undefined),
  }
}
