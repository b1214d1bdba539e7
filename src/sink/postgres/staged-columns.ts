/** The columns of a staged CSV file, in a small file beside it: another process may load it. */

import { readFile, stat } from 'node:fs/promises'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/partition.ts'
import { replaceDurably } from '../../support/durable-files.ts'
import { anyText, type Form, objectOf, parseAs, someOf } from '../../support/json-form.ts'
import type { TargetColumn } from './column-types.ts'

const columnsPath = (staged: string): string => `${staged}.columns.json`

export const writeColumns = (staged: string, columns: readonly TargetColumn[]): Promise<void> =>
  replaceDurably(columnsPath(staged), `${JSON.stringify(columns)}\n`)

const COLUMNS: Form<readonly TargetColumn[]> = someOf(objectOf({ name: anyText, type: anyText }))

/** @throws {ToolkitError} TARGET_FAILED when it is not there */
export const readColumns = async (staged: string): Promise<readonly TargetColumn[]> => {
  const columns = parseAs(COLUMNS, await readFile(columnsPath(staged), 'utf8').catch(() => ''))
  if (columns === undefined) throw gone(staged)
  return columns
}

/** @throws {ToolkitError} TARGET_FAILED when a staged file is not there as its receipt says */
export const checkStagedFile = async (staged: string, { bytes }: FileEntry): Promise<void> => {
  try {
    if ((await stat(staged)).size === bytes) return
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  throw gone(staged)
}

const gone = (staged: string): ToolkitError =>
  new ToolkitError(
    'TARGET_FAILED',
    `Cannot load "${staged}": it is missing or cut, expected it as it was staged`,
  )
