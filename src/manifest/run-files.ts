/** Small files that a run writes once and resumes from after a crash: sealed, so that a changed byte is found. */

import { ToolkitError, writeError } from '../core/errors.ts'
import { runPath } from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import { seal, unseal } from '../support/sealed-text.ts'
import type { RunLease } from './run-lease.ts'

export interface RunFile {
  /** Name in the run's folder. */
  readonly name: string
  /** In words, for messages: `its windows are`. */
  readonly what: string
}

/** @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
export const createRunFile = async (
  { lake, run }: RunLease,
  { name }: RunFile,
  value: object,
): Promise<void> => {
  try {
    await storageOf(lake).create(`${runPath(run)}/${name}`, `${seal(JSON.stringify(value, null, 2))}\n`)
  } catch (error) {
    throw writeError(`Cannot write "${name}" of run "${run}"`, error)
  }
}

/**
 * What an earlier attempt of the run wrote; `undefined` where it wrote none.
 *
 * @throws {ToolkitError} RUN_NOT_RESUMABLE
 */
export const readRunFile = async <T>(
  { lake, run }: RunLease,
  { name, what }: RunFile,
  isValue: (value: unknown) => value is T,
): Promise<T | undefined> => {
  const bytes = await storageOf(lake).read(`${runPath(run)}/${name}`)
  if (bytes === null) return undefined
  const read = unseal(bytes)
  if (read.kind !== 'damaged' && isValue(read.value)) return read.value
  throw new ToolkitError('RUN_NOT_RESUMABLE', `Cannot resume run "${run}": ${what} damaged`, { run })
}
