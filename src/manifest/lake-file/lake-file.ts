/**
 * The files beside the tables of a lake that other tools open, for any snapshot that is committed: `lake.duckdb`, in a lake in a
 * folder, with views, macros and facts of the newest snapshot for any DuckDB; `lake.ducklake`, a DuckLake catalog of all kept ones.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { resolve } from 'node:path'
import { messageOf, writeError } from '../../core/errors.ts'
import {
  type Databases,
  type MakeDatabase,
  openDatabases,
  SMALL_BLOCK_BYTES,
  withDatabases,
} from '../../lake/duckdb/database-files.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { foldersOfTables } from '../../lake/files/file-access.ts'
import {
  CATALOG_FILE,
  CATALOG_FILE_RECORD,
  DELETES_FOLDER,
  inLake,
  LAKE_FILE,
  LAKE_FILE_RECORD,
  RUNS_FOLDER,
} from '../../lake/files/layout.ts'
import { HIDDEN_SCHEMA } from '../../lake/views/current-versions.ts'
import { changedSources, type KeptViews, keptViews, type LakeContents } from '../../lake/views/lake-sql.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { settled } from '../../support/side-by-side.ts'
import { fixedPart } from '../ducklake/fixed-part.ts'
import { CATALOG_FORM, emptyCatalog, makeCatalog } from '../ducklake/make-catalog.ts'
import { askDatabase, deleteFilesOf, verifyCatalog } from '../ducklake/verify-catalog.ts'
import { forgottenBefore } from '../form/forgotten.ts'
import type { Findings } from '../form/problems.ts'
import { computedOfLake } from '../form/projections.ts'
import { readFactsOf } from '../snapshots/read-facts.ts'
import { readWithoutSources, type SnapshotRoot } from '../snapshots/snapshot-root.ts'
import { listManifest, newestNumber, readKnownRoot, readRoot } from '../snapshots/snapshots.ts'
import { keptDatabase } from './kept-database.ts'
import {
  isKept,
  isPlaced,
  MADE_AGAIN,
  type PlacedFile,
  placeFile,
  readPlaced,
  removePlaced,
  verifyPlaced,
} from './placed-file.ts'

const VIEWS: PlacedFile = { name: LAKE_FILE, record: LAKE_FILE_RECORD }
/** Nobody is to write it but a commit: a change of it would be gone with the next one. */
const CATALOG: PlacedFile = { name: CATALOG_FILE, record: CATALOG_FILE_RECORD, isReadOnly: true }

/** Above it a file of views takes too long to make at each commit, and its views to open. */
const MOST_FILES = 10_000
const MOST_ATTEMPTS = 10

/** A snapshot's files, and what the manifest says of it. @throws {ToolkitError} as `readWithoutSources` */
export const readContents = async (lake: string, root: SnapshotRoot): Promise<LakeContents> => {
  const listed = await readWithoutSources(lake, root)
  return {
    // DuckDB looks for a relative path from the working folder of whoever opens the views.
    lake: resolve(storageOf(lake).local),
    listed,
    facts: readFactsOf(lake, root, listed),
    computed: await computedOfLake(root),
  }
}

const filesOf = ({ totals }: SnapshotRoot): number => totals.tables.reduce((sum, { files }) => sum + files, 0)

/** Whether what the manifest says goes into a database file. */
export const fitsIntoFile = (root: SnapshotRoot): boolean => filesOf(root) <= MOST_FILES

const isInFolder = (lake: string): boolean => storageOf(lake).uri.startsWith('file:')

/** A kind of file that is made of a lake's newest snapshot. */
interface FileKind {
  readonly file: PlacedFile
  /** The file's key of firmlake.toml, which sets a variable. */
  readonly key: 'duckdb' | 'ducklake'
  /** Why the lake has no such file; `undefined` where it is to have one. @default every lake has one */
  readonly whyNot?: (
    lake: string,
    root: SnapshotRoot,
    options: LakeFileOptions,
  ) => Promise<string | undefined>
  /** The snapshots that it shows. */
  readonly shows: (lake: string, root: SnapshotRoot) => Promise<string>
  /** The newest one that bytes of such a file show. Fails where they are no such file. */
  readonly shownIn: (bytes: Buffer) => Promise<number>
  readonly make: (
    make: MakeDatabase,
    lake: string,
    root: SnapshotRoot,
    options: LakeFileOptions,
  ) => Promise<Made>
}

interface Made {
  readonly bytes: Buffer
  /** A sentence for whoever waited for it. */
  readonly note?: string | undefined
}

interface LakeFileOptions {
  /** Files above which there is no `lake.duckdb`. */
  readonly mostFiles?: number
  /** Superseded rows of a table above which the catalog has them in files. */
  readonly mostInlined?: number
  /** Takes nothing of the files that are there. @default false */
  readonly anew?: boolean
}

/** The macro of `lake.duckdb` that says which snapshot it shows. */
const SHOWN = 'shown_snapshot'

/** The number that a database of anybody gives for a question. @throws {TypeError} where it gives none */
const numberIn = async (session: Session, sql: string): Promise<number> => {
  const [row] = await session.rows(sql)
  if (!/^\d+$/.test(String(row?.snapshot))) throw new TypeError('Cannot find the snapshot of a file')
  return Number(row?.snapshot)
}

const viewsKind: FileKind = {
  file: VIEWS,
  key: 'duckdb',
  whyNot: async (lake, root, { mostFiles = MOST_FILES }) => {
    if (!isInFolder(lake)) return 'the lake is in a bucket; "firmlake views" prints its views'
    const files = filesOf(root)
    return files > mostFiles
      ? `the lake has ${files} files, more than ${mostFiles}; "firmlake compact" puts them together`
      : undefined
  },
  shows: async (_, { snapshot }) => String(snapshot),
  // Read as a text: a macro of anybody is not called.
  shownIn: (bytes) =>
    askDatabase(
      bytes,
      (session) =>
        numberIn(
          session,
          `SELECT macro_definition AS snapshot FROM duckdb_functions() WHERE database_name = 'made' AND function_name = '${SHOWN}'`,
        ),
      false,
    ),
  make: async (make, lake, root) => {
    const contents = await readContents(lake, root)
    const views = await keptViews(contents.computed)
    // The file that is there may be of anybody, and its views would be run.
    const before = await madeViews(make, views)
    const fill = async (session: Session): Promise<void> => {
      for await (const sql of changedSources(contents)) await session.run(sql)
      await session.run(`CREATE MACRO ${HIDDEN_SCHEMA}.${SHOWN}() AS ${root.snapshot}`)
    }
    return { bytes: await make({ before, fill }) }
  },
}

/** The first snapshot that may be shown: of those before a forget nothing may be read. */
const firstShown = async (lake: string, root: SnapshotRoot): Promise<number> =>
  Math.max((await listManifest(lake)).oldest, forgottenBefore(root))

const STATISTICS_AGAIN = `"${CATALOG_FILE}" was missing or not what was written: it was made anew, and the statistics of all files were read again`

/** The folders whose files a catalog is made of; of a lake in a bucket copies stand in its own folder. */
const foldersOf = (lake: string): readonly string[] =>
  storageOf(lake).isRemote
    ? [inLake(lake, '')]
    : [...foldersOfTables(lake), ...[RUNS_FOLDER, DELETES_FOLDER].map((folder) => inLake(lake, folder))]

const catalogKind: FileKind = {
  file: CATALOG,
  key: 'ducklake',
  shows: async (lake, root) => `${await firstShown(lake, root)} to ${root.snapshot}`,
  shownIn: (bytes) =>
    askDatabase(bytes, (session) =>
      numberIn(session, 'SELECT max(snapshot_id) AS snapshot FROM ducklake_snapshot'),
    ),
  make: async (make, lake, root, { anew = false, mostInlined }) => {
    const before = anew ? undefined : await readPlaced(lake, CATALOG)
    let isLost = !anew && before === undefined && (await isKept(lake, CATALOG))
    const bytes = await makeCatalog(make, {
      ...{ lake, newest: root, first: await firstShown(lake, root), mostInlined, before },
      empty: () => madeCatalog(make),
      onUntrusted: () => {
        isLost = true
      },
    })
    return { bytes, note: isLost ? STATISTICS_AGAIN : undefined }
  },
}

const KINDS = [viewsKind, catalogKind]

/** Whether a person wants no such file. */
const isLeftOut = ({ key }: Pick<FileKind, 'key'>): boolean =>
  process.env[`FIRMLAKE_${key.toUpperCase()}`] === 'false'

const makeViews = async (session: Session, { statements }: KeptViews): Promise<void> => {
  for (const sql of await statements()) await session.run(sql)
}

/** Old releases read it too. */
const VIEWS_FORM = { version: 'v1.0.0', blockBytes: SMALL_BLOCK_BYTES } as const

/** The bytes of a database with the views of lakes with the same further columns. */
export const madeViews = (make: MakeDatabase, views: KeptViews, env?: NodeJS.ProcessEnv): Promise<Buffer> =>
  keptDatabase(
    { name: sha256Of(JSON.stringify([VIEWS_FORM, views.name])), ending: '.duckdb' },
    () => make({ form: VIEWS_FORM, fill: (session) => makeViews(session, views) }),
    env,
  )

/** The same of the catalog. */
const madeCatalog = (make: MakeDatabase): Promise<Buffer> =>
  keptDatabase({ name: sha256Of(CATALOG_FORM + fixedPart().names.madeOf), ending: '.ducklake' }, () =>
    emptyCatalog(make),
  )

/** Outcome for one file. `skipped`: the lake is to have none. */
type FileOutcome =
  | { readonly kind: 'written'; readonly snapshot: number; readonly note?: string | undefined }
  | { readonly kind: 'skipped'; readonly reason: string }

/**
 * Writes one file for the newest snapshot, whole or not at all. Of several at once the newest snapshot's stays: whoever
 * writes looks afterwards whether it is still the newest.
 */
const writeFile = async (
  make: MakeDatabase,
  { file, ...kind }: FileKind,
  lake: string,
  options: LakeFileOptions,
): Promise<FileOutcome> => {
  for (let attempt = 1; ; attempt += 1) {
    const root = await readRoot(lake)
    const reason = isLeftOut(kind)
      ? `"${kind.key} = false" leaves it out`
      : await kind.whyNot?.(lake, root, options)
    if (reason !== undefined) {
      // A file that shows an older snapshot would be taken for the lake.
      await removePlaced(lake, file)
      return { kind: 'skipped', reason }
    }
    try {
      const shows = await kind.shows(lake, root)
      const { bytes, note } = await kind.make(make, lake, root, options)
      await placeFile(lake, file, bytes, shows)
      const isNewest = (await newestNumber(lake)) === root.snapshot
      if ((isNewest && (await isPlaced(lake, file, shows))) || attempt >= MOST_ATTEMPTS)
        return { kind: 'written', snapshot: root.snapshot, note }
    } catch (error) {
      throw writeError(`Cannot write "${file.name}" of lake "${lake}"`, error)
    }
  }
}

/** Brings the names of both files to the disk. */
const syncNames = (lake: string): Promise<void> => storageOf(lake).sync(KINDS.map(({ file }) => file.name))

/** Outcomes for both files. */
interface LakeFilesOutcome {
  readonly views: FileOutcome
  readonly catalog: FileOutcome
}

/**
 * Writes both files for the newest snapshot, taking nothing of those that are there.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `RATES_UNREADABLE`, `DISK_FULL`,
 *   `WRITE_FAILED`
 */
export const writeLakeFiles = (lake: string, options: LakeFileOptions = {}): Promise<LakeFilesOutcome> =>
  withDatabases(async (make) => {
    const write = (kind: FileKind): Promise<FileOutcome> =>
      writeFile(make, kind, lake, { anew: true, ...options })
    // A file that fails does not keep the other from being written.
    const views = await write(viewsKind).catch((error: unknown) => ({ kind: 'failed' as const, error }))
    const catalog = await write(catalogKind)
    await syncNames(lake)
    if (views.kind === 'failed') throw views.error
    return { views, catalog }
  }, foldersOf(lake))

const writeSome = async (
  lake: string,
  kinds: readonly FileKind[],
  opened?: LakeFilesAhead,
): Promise<string | undefined> => {
  const reasons: string[] = []
  const writeOne = async (make: MakeDatabase, kind: FileKind): Promise<string | undefined> => {
    try {
      const outcome = await writeFile(make, kind, lake, {})
      return outcome.kind === 'written'
        ? outcome.note
        : `"${kind.file.name}" was not written: ${outcome.reason}`
    } catch (error) {
      return messageOf(error)
    }
  }
  const write = async (make: MakeDatabase): Promise<void> => {
    for (const kind of kinds) {
      const reason = await writeOne(make, kind)
      if (reason !== undefined) reasons.push(reason)
    }
    await syncNames(lake)
  }
  try {
    if (kinds.length === 0) return undefined
    const databases = await opened?.databases()
    if (databases === undefined) await withDatabases(write, foldersOf(lake))
    else await write(databases.make)
  } catch (error) {
    reasons.push(messageOf(error))
  }
  return reasons.length > 0 ? reasons.join('; ') : undefined
}

/** The files that a lake is to have by where it stands; one that is left out would soon be of an older snapshot. */
const kindsOf = async (lake: string): Promise<readonly FileKind[]> => {
  for (const { file } of KINDS.filter(isLeftOut)) await removePlaced(lake, file)
  return KINDS.filter((kind) => !isLeftOut(kind) && (kind === catalogKind || isInFolder(lake)))
}

/** The files of a lake on their way: what does not depend on its next snapshot. */
export interface LakeFilesAhead {
  readonly databases: () => Promise<Databases | undefined>
  readonly close: () => Promise<void>
}

/** Within a command that commits several times: the lakes whose files are due at its end. */
const due = new AsyncLocalStorage<Set<string>>()

/**
 * Does the work of a command that may commit several times: the files of its lakes are written once, behind it, and a gc writes those
 * that name what it removes. Where the process is killed before, whoever commits next writes them, as after any commit.
 *
 * @param onNoViews given what `updateLakeFiles` returns of a lake
 */
export const writingLakeFilesOnce = async <T>(
  work: () => Promise<T>,
  onNoViews: (reason: string) => void,
): Promise<T> => {
  const lakes = new Set<string>()
  try {
    return await due.run(lakes, work)
  } finally {
    for (const lake of lakes) {
      const reason = await refreshLakeFiles(lake)
      if (reason !== undefined) onNoViews(reason)
    }
  }
}

/**
 * Begins with the files of a lake while its next snapshot is made. A failure shows when they are written.
 *
 * @returns `undefined` where they are not written behind this commit
 */
export const beginLakeFiles = (lake: string): LakeFilesAhead | undefined => {
  if (due.getStore() !== undefined) return undefined
  const opened = settled(
    kindsOf(lake).then(async (kinds) => {
      if (kinds.length === 0) return undefined
      const databases = await openDatabases(foldersOf(lake))
      await keptViews()
      fixedPart()
      return databases
    }),
  )
  return {
    databases: async () => (await opened)(),
    close: async () => {
      const get = await opened
      await Promise.resolve()
        .then(get)
        .then((databases) => databases?.close())
        .catch(() => undefined)
    },
  }
}

/**
 * Writes the files after a commit, which stands whatever becomes of them.
 *
 * @returns why there is one missing, or made anew; `undefined` where all that the lake is to have were written
 */
export const updateLakeFiles = async (lake: string): Promise<string | undefined> => {
  try {
    return await writeSome(lake, await kindsOf(lake))
  } catch (error) {
    return messageOf(error)
  }
}

/** @param whereKept only those that the lake has had: not every command that finds none makes one */
const writeOutdated = async (
  lake: string,
  whereKept: boolean,
  ahead?: LakeFilesAhead,
): Promise<string | undefined> => {
  try {
    const newest = await newestNumber(lake)
    if (newest === 0) return undefined
    const root = await readKnownRoot(lake, newest)
    const outdated: FileKind[] = []
    for (const kind of await kindsOf(lake)) {
      if (whereKept && !(await isKept(lake, kind.file))) continue
      const shows = await kind.shows(lake, root)
      if (!(await isPlaced(lake, kind.file, shows).catch(() => false))) outdated.push(kind)
    }
    return await writeSome(lake, outdated, ahead)
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * Writes the files that are not of the newest snapshot, now or at the end of a command that commits several times: whoever committed
 * that snapshot may have been killed, or had no room.
 *
 * @param ahead as `beginLakeFiles` gave it
 * @returns as `updateLakeFiles`
 */
export const refreshLakeFiles = async (lake: string, ahead?: LakeFilesAhead): Promise<string | undefined> => {
  const lakes = due.getStore()
  if (lakes === undefined) return writeOutdated(lake, false, ahead)
  lakes.add(lake)
  return undefined
}

/** Writes those of the files that the lake has had, before what they name is removed. @returns as `updateLakeFiles` */
export const refreshKeptFiles = (lake: string): Promise<string | undefined> => writeOutdated(lake, true)

/** Removes both: their pages may still hold what they have named. */
export const removeLakeFiles = async (lake: string): Promise<void> => {
  for (const { file } of KINDS) await removePlaced(lake, file)
}

/**
 * Checks both files.
 *
 * @param newest number of the newest snapshot, which they should show
 * @param isWhole whether the manifest is, so that the catalog can be compared with it
 */
export const verifyLakeFiles = async (
  lake: string,
  newest: number,
  isWhole: boolean,
  findings: Findings,
): Promise<void> => {
  await verifyPlaced(lake, VIEWS, String(newest), viewsKind.shownIn, findings)
  const root = isWhole ? await readKnownRoot(lake, newest) : undefined
  const shows = root && (await catalogKind.shows(lake, root))
  const bytes = await verifyPlaced(lake, CATALOG, shows, catalogKind.shownIn, findings)
  if (bytes === undefined || root === undefined) return
  const first = await firstShown(lake, root)
  await verifyCatalog({ lake, first, newest: root, bytes }, (path, problem, detail) =>
    findings.add(path, problem, `${detail}; ${MADE_AGAIN}`),
  )
}

/** Files of superseded rows that no catalog of the lake names. */
export const unnamedDeletes = async (lake: string): Promise<readonly StoredFile[]> => {
  const files = await storageOf(lake).list(DELETES_FOLDER)
  if (files.length === 0) return []
  const bytes = await readPlaced(lake, CATALOG)
  // A catalog that cannot be read may name them, one that holds anything but tables too.
  if (bytes === undefined && (await isKept(lake, CATALOG))) return []
  const named = bytes === undefined ? [] : await deleteFilesOf(bytes).catch(() => null)
  return named === null ? [] : files.filter(({ path }) => !named.includes(path))
}
