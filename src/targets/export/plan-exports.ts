/** The relations that an export writes, their names and files, and whether its target can be used. */

import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { TABLES, type Table } from '../../lake/tables/tables.ts'
import { howToRead, readableKind, readableNames } from '../../lake/views/catalog.ts'
import type { ExportOptions } from '../../options/interfaces.ts'
import { refuseLake } from '../../sink/delivered-runs.ts'
import { DATABASES, FILE_FORMAT_NAMES, type FileFormatName, holdsTables } from '../../sink/targets.ts'
import { nearestName } from '../../support/nearest-name.ts'
import { realFile, type TargetAddress } from '../open-sink.ts'
import { checkFolderOf, checkTarget } from './write-rows.ts'

const COMPANY_NAMES = `(SELECT internal_id AS id, coalesce(c.company_name, r.name) AS company_name
  FROM companies_all AS c FULL JOIN relations AS r USING (internal_id))`

/** A column of ids, and what stands beside it. */
const COMPANY_IDS: readonly string[] = ['internal_id', 'company_id']
const ENTITY_ID = 'entity_id'

/** Tables whose rows have the name already. */
const OWN_NAME: ReadonlySet<string> = new Set(['companies', 'relations', 'relation_entities'])

/**
 * A SELECT of all rows: `company_name` behind the company's id, `entity_name` behind that of an owner, a person, a
 * subsidiary; NULL for persons with a protected identity.
 *
 * @param history of all versions; names of companies are the current ones
 */
const selectWithNames = ({ name, columns }: Table, history: boolean): string => {
  const view = ident(history ? `${name}_history` : name)
  const has = (column: string): boolean => columns.some((one) => one.name === column)
  const company = COMPANY_IDS.find((id) => has(id) && (id === 'company_id' || !OWN_NAME.has(name)))
  const entity = has(ENTITY_ID) && !OWN_NAME.has(name) ? ENTITY_ID : undefined
  const named: Readonly<Record<string, string>> = {
    ...(company && { [company]: 'of_company.company_name' }),
    ...(entity && {
      [entity]:
        'CASE WHEN NOT coalesce(of_entity.is_protected, false) THEN of_entity.name END AS entity_name',
    }),
  }
  const listed = columns.flatMap(({ name: column }) => [`t.${ident(column)}`, named[column] ?? []].flat())
  // Columns of all versions, and computed ones.
  const others = `t.* EXCLUDE (${columns.map((column) => ident(column.name)).join(', ')})`
  const key = ['company_id', 'entity_no', ...(history ? ['version'] : [])]
  return [
    `SELECT ${[...listed, others].join(', ')} FROM ${view} AS t`,
    ...(company ? [`LEFT JOIN ${COMPANY_NAMES} AS of_company ON of_company.id = t.${company}`] : []),
    ...(entity
      ? [
          `LEFT JOIN ${history ? 'relation_entities_history' : 'relation_entities'} AS of_entity`,
          `ON ${key.map((column) => `of_entity.${column} = t.${column}`).join(' AND ')}`,
        ]
      : []),
  ].join('\n')
}

/** An address, or a stream in a format. */
type AnyTarget = TargetAddress | { readonly kind: 'stream'; readonly format: FileFormatName }

/** The rows of an export, and how they are named. */
export type WhatToExport = Pick<
  ExportOptions,
  'tables' | 'sql' | 'history' | 'names' | 'take' | 'hashKey' | 'compute'
>

/** Files and folders are named after it, and must not stand elsewhere. @throws {ToolkitError} `USAGE` */
const answerName = (name = ANSWER): string => {
  if (name !== '' && !/^\.|[/\\\p{Cc}]/u.test(name)) return name
  throw new ToolkitError('USAGE', `Cannot name the answer "${name}": expected a name such as "answer"`)
}

/** A relation that is exported, and its name. */
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
  if (sql !== undefined) return [{ name: answerName(tables?.[0]), sql }]
  const chosen = new Map(TABLES.map((table) => [table.name, table]))
  return [...new Set(tables ?? chosen.keys())].map((table) => {
    const found = chosen.get(table)
    if (found === undefined)
      return viewExport(table, {
        'in all versions': history,
        'with further names': names,
        'with columns left out or computed': (take ?? compute) !== undefined,
      })
    const name = history ? `${table}_history` : table
    const all = `SELECT * FROM ${ident(name)}`
    return { name, table, sql: names ? selectWithNames(found, history) : all }
  })
}

/** @param refused what is asked of it that only tables can give. @throws {ToolkitError} `USAGE` */
const viewExport = (name: string, refused: Readonly<Record<string, boolean>>): Export => {
  if (readableKind(name) !== 'view') {
    const how = howToRead(name)
    const near = nearestName(name, readableNames())
    throw new ToolkitError(
      'USAGE',
      `Cannot export table "${name}": ${
        how === undefined
          ? `no table or view of a lake has this name, expected one of ${TABLES.map((table) => table.name).join(', ')}, or a view such as figures${near === undefined ? '' : `; did you mean "${near}"?`}`
          : `${how}, expected a table or a view; --sql takes such a statement`
      }`,
    )
  }
  const what = Object.keys(refused).find((one) => refused[one])
  if (what === undefined) return { name, sql: `FROM ${name}` }
  throw new ToolkitError('USAGE', `Cannot export the view "${name}" ${what}: expected a table, or --sql`)
}

/** The request; where it names no table, with the one that the file is named after, such as `companies.csv`. */
export const withTableOfFile = <What extends WhatToExport>(to: AnyTarget, what: What): What => {
  if (to.kind !== 'file' || what.tables !== undefined || what.sql !== undefined) return what
  const name = basename(to.path).slice(0, -`.${to.format}`.length)
  return readableKind(name) === 'table' || readableKind(name) === 'view' ? { ...what, tables: [name] } : what
}

/** @throws {ToolkitError} `USAGE` for what only CSV has */
export const refuseCsvOptions = (
  to: AnyTarget,
  { bom, delimiter }: Pick<ExportOptions, 'bom' | 'delimiter'>,
): void => {
  if (!bom && delimiter === undefined) return
  if ('format' in to && (to.format === 'csv' || to.format === 'csv.gz')) return
  throw new ToolkitError(
    'USAGE',
    `Cannot use ${bom ? '--bom' : '--delimiter'}: the target is no CSV, expected a file such as companies.csv`,
  )
}

/** The only relation, for targets that take exactly one. @throws {ToolkitError} `USAGE` */
export const onlyOne = (exports: readonly Export[]): Export => {
  const [one, ...others] = exports
  if (one !== undefined && others.length === 0) return one
  throw new ToolkitError(
    'USAGE',
    `Cannot export ${exports.length} tables to one file: name it after a table, such as companies.csv, or give one --table, --sql, or a folder such as csv:DIR`,
  )
}

/** A file of the target. */
export interface OutFile {
  /** Several of a format whose files hold several tables. */
  readonly exports: readonly [Export, ...Export[]]
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

const outFiles = (
  to: Extract<TargetAddress, { kind: 'file' | 'folder' }>,
  exports: readonly Export[],
): readonly OutFile[] => {
  const [first, ...others] = exports
  if (to.kind === 'file') {
    const { path, format } = to
    const held =
      first !== undefined && holdsTables(format)
        ? ([first, ...others] as const)
        : ([onlyOne(exports)] as const)
    return [{ exports: held, path: resolve(path), format }]
  }
  return exports.map((one) => ({
    exports: [one],
    path: join(localFolder(to.directory), `${one.name}.${to.format}`),
    format: to.format,
  }))
}

/** Folder of unfinished files: on the disk of the target, so that they can be moved. */
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

/** Whether a second DuckDB loads the target at the same time. */
export const isDatabaseFile = (to: TargetAddress): to is Extract<TargetAddress, { kind: 'database' }> =>
  to.kind === 'database' && DATABASES[to.database].isFile

/** Forms that no input has. */
const RESULT_FORMATS = [...FILE_FORMAT_NAMES.filter((format) => format !== 'jsonl'), 'duckdb'] as const

/**
 * Real paths of the files that a target writes, and of those that earlier exports may have written beside them: tables in any
 * form but JSON Lines, which may be an input.
 */
export const filesOfTarget = async (
  to: TargetAddress,
  exports: readonly Export[],
): Promise<ReadonlySet<string>> => {
  if (to.kind === 'database' && !isDatabaseFile(to)) return new Set()
  const own = to.kind === 'database' ? [to.at, `${to.at}.wal`] : outFiles(to, exports).map(({ path }) => path)
  const folder = exportWorkFolder(to)
  const beside = TABLES.flatMap(({ name }) =>
    RESULT_FORMATS.map((format) => join(folder, `${name}.${format}`)),
  )
  return new Set(await Promise.all([...own, ...beside].map(realFile)))
}

/**
 * Refuses a target that cannot be used.
 *
 * @returns the files that will be written; none of a database
 * @throws {ToolkitError} USAGE, TARGET_REFUSED
 */
export const checkExport = async (
  to: TargetAddress,
  exports: readonly Export[],
  { names = false, overwrite = false }: Pick<ExportOptions, 'names' | 'overwrite'>,
): Promise<readonly OutFile[]> => {
  if (names && to.kind === 'database')
    throw new ToolkitError(
      'USAGE',
      'Cannot put names into tables of a database: they have the columns of the lake, join companies there',
    )
  const files = to.kind === 'database' ? [] : outFiles(to, exports)
  if (to.kind === 'folder') await refuseLake(to.directory)
  for (const { path } of files) await checkTarget(path, overwrite)
  if (to.kind === 'file') await checkFolderOf(to.path)
  if (isDatabaseFile(to)) await checkFolderOf(to.at)
  return files
}
