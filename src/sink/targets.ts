/**
 * Every format of files and every database that an address may name: how its addresses look, what it can do, and what is
 * loaded when it is used. Another one is a file of its own and an entry here; messages and help texts follow.
 */

import { extname } from 'node:path'
import type { DatabaseTarget } from './database-target.ts'
import type { FileFormat } from './file-format.ts'

interface DeclaredFormat {
  /** Whether runs can be delivered in it, to a folder. @default false: only an export writes it */
  readonly takesRuns?: true
  /** Whether it needs no seeking and so can go to standard output. @default false */
  readonly streams?: true
  /** Whether one file holds several tables. @default false */
  readonly holdsTables?: true
  /** Whether its bytes also say how threads have shared the rows, so that only one thread gives the same each time. @default false */
  readonly needsOneThread?: true
  readonly load: () => Promise<FileFormat>
}

/** Formats by the end of the files' names. */
export const FILE_FORMATS = {
  csv: { takesRuns: true, streams: true, load: async () => (await import('./csv.ts')).csvFormat },
  'csv.gz': { takesRuns: true, load: async () => (await import('./csv.ts')).csvGzipFormat },
  jsonl: { takesRuns: true, streams: true, load: async () => (await import('./json-lines.ts')).jsonlFormat },
  // DuckDB cuts row groups by what its threads have at hand.
  parquet: {
    takesRuns: true,
    needsOneThread: true,
    load: async () => (await import('./parquet.ts')).parquetFormat,
  },
  arrow: { takesRuns: true, load: async () => (await import('./arrow/arrow-sink.ts')).arrowFormat },
  arrows: {
    ...{ takesRuns: true, streams: true },
    load: async () => (await import('./arrow/arrow-sink.ts')).arrowsFormat,
  },
  // For people.
  xlsx: { holdsTables: true, load: async () => (await import('./xlsx/write-xlsx.ts')).xlsxFormat },
} as const satisfies Readonly<Record<string, DeclaredFormat>>
export type FileFormatName = keyof typeof FILE_FORMATS

const DUCKDB_SUFFIXES = ['.duckdb', '.ddb']

export const DATABASES = {
  duckdb: {
    ...{ form: 'duckdb:FILE', suffix: '.duckdb', isFile: true },
    read: (address) => {
      if (/^duckdb:./is.test(address)) return address.slice('duckdb:'.length)
      const isFile = !address.includes('://') && DUCKDB_SUFFIXES.includes(extname(address).toLowerCase())
      return isFile ? address : undefined
    },
    load: async () => (await import('./duckdb-file.ts')).duckdbSink,
  },
  postgres: {
    ...{ form: 'postgres://…', isFile: false, part: 'postgres' },
    read: (address) => (/^postgres(ql)?:\/\//i.test(address) ? address : undefined),
    password: {
      isIn: (address) => /^[a-z]+:\/\/(?:[^/?#@]*:[^@]+@|.*[?&]password=[^&])/is.test(address),
      variable: 'PGPASSWORD',
    },
    load: async () => (await import('./postgres/postgres.ts')).postgresSink,
  },
} as const satisfies Readonly<Record<string, DatabaseTarget>>
export type DatabaseName = keyof typeof DATABASES

type FormatsWith<Ability extends object> = {
  [Name in FileFormatName]: (typeof FILE_FORMATS)[Name] extends Ability ? Name : never
}[FileFormatName]
/** Formats that need no seeking, for standard output. */
export type StreamFormatName = FormatsWith<{ readonly streams: true }>
type RunFormatName = FormatsWith<{ readonly takesRuns: true }>

export const isFileFormat = (name: string): name is FileFormatName => Object.hasOwn(FILE_FORMATS, name)
export const takesRuns = (name: FileFormatName): name is RunFormatName => 'takesRuns' in FILE_FORMATS[name]
export const needsOneThread = (name: string): boolean =>
  isFileFormat(name) && 'needsOneThread' in FILE_FORMATS[name]
/** Whether one file of a format holds several tables. */
export const holdsTables = (name: FileFormatName): boolean => 'holdsTables' in FILE_FORMATS[name]
const streams = (name: FileFormatName): name is StreamFormatName => 'streams' in FILE_FORMATS[name]
const isDatabase = (name: string): name is DatabaseName => Object.hasOwn(DATABASES, name)

export const FILE_FORMAT_NAMES: readonly FileFormatName[] = Object.keys(FILE_FORMATS).filter(isFileFormat)
export const STREAM_FORMATS: readonly StreamFormatName[] = FILE_FORMAT_NAMES.filter(streams)
export const DATABASE_NAMES: readonly DatabaseName[] = Object.keys(DATABASES).filter(isDatabase)

const databases = DATABASE_NAMES.map((name): DatabaseTarget => DATABASES[name])
const folderForm = (name: FileFormatName): string => `${name}:DIR`

/** How addresses of targets look, for messages and help texts. */
export const TARGET_FORMS = {
  /** Ends of the names of files; of a database only where it is one. */
  files: FILE_FORMAT_NAMES.map((name) => `.${name}`),
  databaseFiles: databases.flatMap(({ suffix }) => suffix ?? []),
  folders: FILE_FORMAT_NAMES.map(folderForm),
  /** Folders that runs are delivered to. */
  runFolders: FILE_FORMAT_NAMES.filter(takesRuns).map(folderForm),
  databases: databases.map(({ form }) => form),
  /** A name of a file, or of a server. */
  databaseExamples: databases.map(({ suffix, form }) => (suffix === undefined ? form : `firms${suffix}`)),
} as const

/** The variable that is to hold the password of an address of a database instead; `undefined` where it has none. */
export const passwordVariable = (address: string): string | undefined =>
  databases.find(({ read, password }) => read(address) !== undefined && password?.isIn(address))?.password
    ?.variable
