/** What an export writes under which name, and where: without access to the lake or the disk. */

import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import type { Take } from '../../lake/projection/projection.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import { DATABASES, type FileFormatName } from '../../sink/targets.ts'
import type { TargetAddress } from '../open-sink.ts'
import { selectWithNames } from './select-with-names.ts'

export interface WhatToExport {
  /** Tables to export. @default all; with `sql` its one name is that of the answer */
  readonly tables?: readonly string[] | undefined
  /** One SELECT over the views of the lake, in place of its tables. */
  readonly sql?: string | undefined
  /** All versions of each record in place of the current ones. @default false */
  readonly history?: boolean | undefined
  /** Names of companies and entities beside their ids; for files. @default false */
  readonly names?: boolean | undefined
  /** What of the rows is written; columns that are left out are not there. @default everything */
  readonly take?: Take | undefined
  /** Of hashed columns. @default FIRMLAKE_HASH_KEY, else the file FIRMLAKE_HASH_KEY_FILE */
  readonly hashKey?: string | Uint8Array | undefined
  /** Further columns by `table.column`: SQL over the columns of that table, also over those that are left out. @default none */
  readonly compute?: Readonly<Record<string, string>> | undefined
}

/** What is exported under which name. */
export interface Export {
  readonly name: string
  readonly sql: string
  /** The table whose rows these are. */
  readonly table?: string
}

const ANSWER = 'export'

/** @throws {ToolkitError} `USAGE` */
export const exportsOf = ({
  tables,
  sql,
  history = false,
  names = false,
  take,
  compute,
}: WhatToExport): readonly Export[] => {
  if ((sql !== undefined || names) && (take ?? compute) !== undefined)
    throw new ToolkitError(
      'USAGE',
      `Cannot leave out or compute columns of ${sql === undefined ? 'tables with --names' : 'an answer'}: write the statement so`,
    )
  if (sql !== undefined && names)
    throw new ToolkitError('USAGE', 'Cannot put names into an answer: join companies in the statement')
  if (sql !== undefined) return [{ name: tables?.[0] ?? ANSWER, sql }]
  const unknown = tables?.find((table) => !TABLES.some(({ name }) => name === table))
  if (unknown !== undefined)
    throw new ToolkitError(
      'USAGE',
      `Cannot export table "${unknown}": the lake has ${TABLES.map(({ name }) => name).join(', ')}`,
    )
  const chosen = new Map(TABLES.map((table) => [table.name, table]))
  return [...new Set(tables ?? chosen.keys())].flatMap((table) => {
    const found = chosen.get(table)
    const name = history ? `${table}_history` : table
    const all = `SELECT * FROM ${ident(name)}`
    return found === undefined ? [] : [{ name, table, sql: names ? selectWithNames(found, history) : all }]
  })
}

/** What needs exactly one relation. @throws {ToolkitError} `USAGE` */
export const onlyOne = (exports: readonly Export[]): Export => {
  const [one, ...others] = exports
  if (one !== undefined && others.length === 0) return one
  throw new ToolkitError(
    'USAGE',
    `Cannot export ${exports.length} tables to one file: give one --table, --sql, or a folder such as csv:DIR`,
  )
}

/** A file of the target. */
export interface OutFile {
  readonly export: Export
  readonly path: string
  readonly format: FileFormatName
}

/** A bucket takes runs (`--sink`); files are put into place by the file system. @throws {ToolkitError} TARGET_REFUSED */
const localFolder = (directory: string): string => {
  if (!directory.includes('://')) return resolve(directory)
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot export to "${directory}": expected a folder of this machine`,
  )
}

export const outFiles = (
  to: Extract<TargetAddress, { kind: 'file' | 'folder' }>,
  exports: readonly Export[],
): readonly OutFile[] =>
  to.kind === 'file'
    ? [{ export: onlyOne(exports), path: resolve(to.path), format: to.format }]
    : exports.map((one) => ({
        export: one,
        path: join(localFolder(to.directory), `${one.name}.${to.format}`),
        format: to.format,
      }))

/** Where unfinished files stand: on the disk of the target, so that they can be moved. */
export const exportWorkFolder = (to: TargetAddress): string => {
  switch (to.kind) {
    case 'file':
      return dirname(resolve(to.path))
    case 'folder':
      return resolve(to.directory)
    case 'database':
      return DATABASES[to.database].isFile ? dirname(resolve(to.at)) : tmpdir()
  }
}
