/**
 * Local files and standard input as sources: finds the files that a person names, reads them in large chunks, and
 * notices when a file changes meanwhile.
 */

import { accessSync, constants, type Dirent, fstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { glob, lstat, open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openFilesError, systemCode, ToolkitError } from '../core/errors.ts'
import type { Fingerprint, Source } from '../core/source.ts'
import { MANIFEST_FOLDER } from '../lake/files/layout.ts'
import { hashFile, sha256Of } from '../support/hash.ts'
import { pathOfBytes, pathOfShown, pathOnDisk, shownPath } from '../support/list-files.ts'
import { byNumberedName } from '../support/numbered-names.ts'

/** Bytes read from a file at once. 1 MiB: at Node's 64 KiB a read costs more than it brings. */
const READ_BYTES = 1024 * 1024

/** Stands for standard input among the inputs. */
const STDIN = '-'

interface LocalFile {
  readonly kind: 'file'
  /** Below the folder or pattern given; bytes that are no UTF-8 as `pathOfBytes` has them. */
  readonly path: string
  /** Length in bytes; absent where only reading shows it (a pipe). */
  readonly bytes?: number
  /** Whether it is in a lake or in a folder that a lake delivers to. */
  readonly isOwn?: true
}

type LocalSource = LocalFile | { readonly kind: 'stdin' }

/** An error of the file system as a `ToolkitError`. */
const sourceError = (action: string, path: string, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const name = shownPath(path)
  const tooMany = openFilesError(`Cannot ${action} "${name}"`, error)
  if (tooMany !== undefined) return tooMany
  const reason = error instanceof Error ? error.message : String(error)
  const code = systemCode(error) === 'ENOENT' ? 'SOURCE_NOT_FOUND' : 'SOURCE_UNREADABLE'
  return new ToolkitError(code, `Cannot ${action} "${name}": ${reason}`, { source: name }, error)
}

const notFound = (input: string, state: string) =>
  new ToolkitError('SOURCE_NOT_FOUND', `Cannot find "${input}": ${state}`, { source: input })

/**
 * `undefined` when there is nothing of that name. At once: there may be very many, and of each call that is waited for V8
 * keeps a request until it collects all garbage.
 */
const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(pathOnDisk(path))
  } catch (error) {
    const code = systemCode(error)
    // A pattern may be longer than a name can be.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined
    throw sourceError('open', path, error)
  }
}

interface Entry {
  readonly entry: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>
  readonly text: string
}

/** Node puts this character in the place of bytes that are no UTF-8. */
const LOST = '\ufffd'

const entriesOf = async (folder: string): Promise<readonly Entry[]> => {
  const path = pathOnDisk(folder)
  try {
    const entries = await readdir(path, { withFileTypes: true })
    if (!entries.some(({ name }) => name.includes(LOST)))
      return entries.map((entry) => ({ entry, text: entry.name }))
    const exact = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
    return exact.map((entry) => ({ entry, text: pathOfBytes(Buffer.from(entry.name)) }))
  } catch (error) {
    throw sourceError('list', folder, error)
  }
}

/** The paths that Node gives as this text. */
const exactPaths = async (path: string): Promise<readonly string[]> => {
  if (!path.includes(LOST) || dirname(path) === path) return [path]
  const [name, exact] = [basename(path), [] as string[]]
  for (const folder of await exactPaths(dirname(path)))
    for (const { text } of await entriesOf(folder))
      if (Buffer.from(pathOnDisk(text)).toString() === name) exact.push(join(folder, text))
  return exact
}

/** Regular files below a folder, without hidden files and folders. Links to files count, links to folders do not. */
const filesBelow = async (folder: string): Promise<string[]> => {
  const names: string[] = []
  for (const { entry, text } of await entriesOf(folder)) {
    if (text.startsWith('.')) continue
    const name = join(folder, text)
    if (entry.isDirectory()) names.push(...(await filesBelow(name)))
    else if (entry.isFile()) names.push(name)
    else if (entry.isSymbolicLink() && linkedStat(name).isFile()) names.push(name)
  }
  return names
}

/** A link to nowhere is an error: a file that was meant must not be missing without a word. */
const linkedStat = (name: string): Stats => {
  const stats = statOf(name)
  if (stats) return stats
  const shown = shownPath(name)
  throw new ToolkitError('SOURCE_UNREADABLE', `Cannot open "${shown}": it is a link to nowhere`, {
    source: shown,
  })
}

const filesMatching = async (pattern: string): Promise<string[]> => {
  const names: string[] = []
  for await (const found of glob(pattern))
    for (const name of await exactPaths(found)) if (linkedStat(name).isFile()) names.push(name)
  return [...new Set(names)]
}

const namesOf = async (input: string): Promise<string[]> => {
  const stats = statOf(input)
  if (stats?.isDirectory()) {
    const names = await filesBelow(input)
    if (names.length === 0) throw notFound(input, 'the folder holds no file')
    return names.sort(byNumberedName)
  }
  if (stats) return [input]
  const raw = pathOfShown(input)
  if (raw !== input && statOf(raw)) return namesOf(raw)
  if (!/[*?[{]/.test(input)) throw notFound(input, 'there is no such file or folder')
  const names = await filesMatching(input)
  if (names.length === 0) throw notFound(input, 'no file matches the pattern')
  return names.sort(byNumberedName)
}

/** At once, as `statOf`. */
const fileOf = (path: string): LocalFile => {
  try {
    const [onDisk, stats] = [pathOnDisk(path), statSync(pathOnDisk(path))]
    accessSync(onDisk, constants.R_OK)
    return stats.isFile() ? { kind: 'file', path, bytes: stats.size } : { kind: 'file', path }
  } catch (error) {
    throw sourceError('open', path, error)
  }
}

/** A lake has the first; a folder that runs are delivered to has the others. */
const MARKS = [MANIFEST_FOLDER, '_loaded', '_lake']

const exists = (path: string): Promise<boolean> =>
  lstat(pathOnDisk(path)).then(
    () => true,
    () => false,
  )

/**
 * Whether a file is firmlake's own: below a lake, or below a folder that a lake delivers to. No file is opened to find
 * out, and each folder is looked at once.
 *
 * @returns a function of a file's absolute path; a link in it is not followed
 */
const ownFileTest = (): ((path: string) => Promise<boolean>) => {
  const known = new Map<string, Promise<boolean>>()
  const isOwnFolder = (folder: string): Promise<boolean> => {
    const found = known.get(folder) ?? look(folder)
    known.set(folder, found)
    return found
  }
  const look = async (folder: string): Promise<boolean> => {
    const above = dirname(folder)
    if (above !== folder && (await isOwnFolder(above))) return true
    for (const mark of MARKS) if (await exists(join(folder, mark))) return true
    return false
  }
  return (path) => isOwnFolder(dirname(path))
}

const realPath = (path: string): string => {
  const onDisk = pathOnDisk(path)
  const real = realpathSync.native(onDisk)
  return real.includes(LOST) ? pathOfBytes(realpathSync.native(onDisk, 'buffer')) : real
}

/** Files that are looked at before others have their turn. */
const FILES_AT_ONCE = 100

/**
 * Finds the sources of absolute paths, in the order given.
 *
 * Each input is a file, a folder (all regular files below it that are not hidden), a pattern such as
 * `batches/*.br` (the files it matches), or `-` for standard input. Files of a folder or pattern are sorted by
 * name, numbers in them by their values. A name with pattern characters that exists is that file. A file found twice comes once. Files of a folder
 * or pattern that lie in a lake, or where a lake delivers to, are left out: a load must not read what loads have made.
 *
 * @param targets real paths of files that are going to be written; what stands there is an earlier result
 * @returns what was found, and how many files were left out
 * @throws {ToolkitError} `SOURCE_NOT_FOUND` naming the input that gives nothing; `SOURCE_UNREADABLE`; `TARGET_REFUSED` for an
 *   input that would be written over
 */
export const findLocalSources = async (
  inputs: readonly string[],
  targets: ReadonlySet<string> = new Set(),
): Promise<{
  readonly sources: readonly LocalSource[]
  readonly ownFiles: number
  readonly targetFiles: number
}> => {
  const found = new Map<string, LocalSource>()
  const isOwnFile = ownFileTest()
  const left = new Set<string>()
  const written = new Set<string>()
  for (const input of inputs) {
    if (input === STDIN) found.set(STDIN, { kind: 'stdin' })
    else {
      for (const [at, path] of (await namesOf(input)).entries()) {
        if (at % FILES_AT_ONCE === 0) await nextTurn()
        const source = fileOf(path)
        // Only a regular file has a real path: that of a pipe (`<(...)` in a shell) does not exist.
        const real = source.bytes === undefined ? path : realPath(path)
        // Mostly they are equal, and one text is enough: there may be very many.
        const identity = real === path ? path : real
        const isOwn = source.bytes !== undefined && ((await isOwnFile(path)) || (await isOwnFile(identity)))
        if (targets.has(identity)) {
          refuseInput(path, path === input)
          written.add(identity)
        } else if (isOwn && path !== input) left.add(identity)
        else if (!found.has(identity)) found.set(identity, isOwn ? { ...source, isOwn } : source)
      }
    }
  }
  return {
    sources: [...found.values()],
    ownFiles: [...left].filter((one) => !found.has(one)).length,
    targetFiles: written.size,
  }
}

/** JSON Lines that are only found in a folder may be an input; no other form that is written is one. */
const refuseInput = (path: string, isNamed: boolean): void => {
  if (!isNamed && !/\.jsonl$/i.test(path)) return
  const source = shownPath(path)
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot write "${source}": it is ${isNamed ? 'an input' : 'among the inputs'}, expected a target elsewhere`,
    { source },
  )
}

interface OpenOptions {
  /** Stops reading with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** The file's length as far as it is known: of a small file less memory is taken. @default not known */
  readonly sizeBytes?: number | undefined
}

/** Memory for the end of a file that has been read. */
const END_BYTES = 1024

/**
 * Reads a file in chunks of 1 MiB. Opens it when the first chunk is asked for, closes it on every way out. A chunk may
 * be read until the next one is asked for.
 *
 * @throws {ToolkitError} `SOURCE_NOT_FOUND`, or `SOURCE_UNREADABLE` (a folder, no permission, a bad disk)
 */
export async function* openSourceFile(path: string, options: OpenOptions = {}): AsyncGenerator<Buffer, void> {
  const failed = (error: unknown): never => {
    throw sourceError('read', path, error)
  }
  options.signal?.throwIfAborted()
  const file = await open(pathOnDisk(path)).catch(failed)
  const size = options.sizeBytes ?? Number.POSITIVE_INFINITY
  // Chunks of their own would bring the garbage collector to work for every few of them.
  const chunk = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, Math.max(size, END_BYTES)))
  try {
    for (;;) {
      options.signal?.throwIfAborted()
      const { bytesRead } = await file.read(chunk).catch(failed)
      if (bytesRead === 0) return
      yield chunk.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** Node reads a folder given as standard input as nothing, without a word. */
const standardInput = (): Readable => {
  if (!fstatSync(0).isDirectory()) return process.stdin
  throw new ToolkitError('SOURCE_UNREADABLE', 'Cannot read "stdin": it is a folder', { source: 'stdin' })
}

/**
 * Reads standard input to its end; it can be read once.
 *
 * @param options `stream` stands for standard input, for whoever holds another readable. @default process.stdin
 * @throws {ToolkitError} `SOURCE_UNREADABLE`
 */
export async function* openStdin(
  options: OpenOptions & { readonly stream?: Readable } = {},
): AsyncGenerator<Buffer, void> {
  const { signal, stream = standardInput() } = options
  signal?.throwIfAborted()
  const stop = () => stream.destroy()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    yield* stream
  } catch (error) {
    signal?.throwIfAborted()
    throw sourceError('read', 'stdin', error)
  } finally {
    signal?.removeEventListener('abort', stop)
    stream.destroy()
  }
}

/**
 * Reads a file once and gives its length and hash.
 *
 * @throws {ToolkitError} `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE`
 */
export const fingerprintFile = async (path: string, options: OpenOptions = {}): Promise<Fingerprint> => {
  try {
    const { bytes, sha256 } = await hashFile(pathOnDisk(path), options)
    return { bytes, sha256 }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw sourceError('read', path, error)
  }
}

/**
 * Size, time of change in nanoseconds and inode number of a file, as one text. Equal texts before and after
 * reading mean that nobody wrote to the file meanwhile; a cheap check beside the hash.
 *
 * @throws {ToolkitError} `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE`
 */
export const identityOf = async (path: string): Promise<string> => {
  try {
    const { size, mtimeNs, ino } = await stat(pathOnDisk(path), { bigint: true })
    // A single text, where a template would keep its pieces too.
    return [size, mtimeNs, ino].join('-')
  } catch (error) {
    throw sourceError('open', path, error)
  }
}

/** Compares two results of `identityOf`. @throws {ToolkitError} `SOURCE_CHANGED` when they differ */
export const assertUnchanged = (name: string, before: string, after: string): void => {
  if (before === after) return
  throw new ToolkitError(
    'SOURCE_CHANGED',
    `Cannot trust what was read of "${name}": it is now ${after} (size, time, inode), it was ${before}`,
    { source: name, before, after },
  )
}

/**
 * Sources for what a person names: files, folders, patterns, `-` for standard input. Names are kept relative
 * to `cwd` where they stand below it.
 *
 * @param targets as `findLocalSources` takes them
 * @throws {ToolkitError} SOURCE_NOT_FOUND, SOURCE_UNREADABLE, TARGET_REFUSED
 */
export const localSources = async (
  inputs: readonly string[],
  cwd: string = process.cwd(),
  targets?: ReadonlySet<string>,
): Promise<Source[]> => {
  const named = inputs.map((input) => (input === STDIN ? input : resolve(cwd, input)))
  const { sources, ownFiles, targetFiles } = await findLocalSources(named, targets)
  const found = sources.map((source): Source => {
    if (source.kind === 'stdin')
      return { kind: 'stdin', name: 'stdin', open: (signal) => openStdin({ signal }) }
    const below = named.some((input) => source.path.startsWith(input + sep))
    return {
      ...fileSource(source, cwd),
      ...(below && { found: true }),
      ...(source.isOwn && {
        notice: 'it is in a lake, or where a lake delivers to; it is loaded since it was named',
      }),
    }
  })
  return [
    ...found,
    ...leftOut(ownFiles, 'in a lake, or where a lake delivers to; name a file itself to load it'),
    ...leftOut(targetFiles, 'where the tables are written to'),
  ]
}

const NO_BYTES = { bytes: 0, sha256: sha256Of('') }

/** Stands for the files that were found and left out, if there are some. */
const leftOut = (count: number, excluded: string): readonly Source[] =>
  count === 0
    ? []
    : [
        {
          kind: 'file',
          name: count === 1 ? '1 file' : `${count} files`,
          sizeBytes: 0,
          excluded,
          fingerprint: async () => NO_BYTES,
          open: async function* () {},
        },
      ]

const fileSource = ({ path, bytes }: LocalFile, cwd: string): Source => {
  const below = relative(cwd, path)
  const plain = below.startsWith('..') || isAbsolute(below) ? path : below
  const name = shownPath(plain)
  // A pipe has no length and cannot be read twice.
  if (bytes === undefined) return { kind: 'stdin', name, open: (signal) => openSourceFile(path, { signal }) }
  const file: RegularFile = {
    kind: 'file',
    name,
    cwd,
    ...(name !== plain && { path }),
    sizeBytes: bytes,
    identity: undefined,
    fingerprint,
    open: readUnchanged,
  }
  return file
}

/** A file that can be read again. Its functions are those of all: there may be very many files, which are held to the end. */
interface RegularFile extends Source {
  /** The folder that `name` is relative to. */
  readonly cwd: string
  /** The file's path where `name` is not the same. */
  readonly path?: string
  /** As it was when it was hashed. */
  identity: string | undefined
}

const pathOf = ({ cwd, name, path = resolve(cwd, name) }: RegularFile): string => path

async function fingerprint(this: RegularFile, signal?: AbortSignal): Promise<Fingerprint> {
  this.identity = await identityOf(pathOf(this))
  return fingerprintFile(pathOf(this), { signal })
}

async function* readUnchanged(this: RegularFile, signal?: AbortSignal): AsyncGenerator<Buffer, void> {
  const path = pathOf(this)
  const before = this.identity ?? (await identityOf(path))
  yield* openSourceFile(path, { signal, sizeBytes: this.sizeBytes })
  assertUnchanged(this.name, before, await identityOf(path))
}
