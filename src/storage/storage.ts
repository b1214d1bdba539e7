/**
 * The place of a lake: a folder of this machine, or a prefix of a bucket. Paths are below it, with `/`.
 * All that differs between the two is behind this interface; nobody else asks which one it is.
 */

import type { ToolkitError } from '../core/errors.ts'
import type { FileHash } from '../support/hash.ts'

/** A file of a storage. */
export interface StoredFile {
  readonly path: string
  readonly bytes: number
  /** When it was last written, in milliseconds since 1970. */
  readonly changedMs: number
}

/** A file or folder directly in a folder. */
export interface StoredEntry {
  readonly name: string
  readonly kind: 'file' | 'folder'
}

/** Facts of a file, known before it is fetched, so that a damaged or exchanged one is found. */
export interface FileFacts {
  readonly path: string
  readonly bytes: number
  /** In hex, lower case. */
  readonly sha256: string
}

/** A staged local file and the path where it belongs. */
export interface StagedPlacement {
  /** Absolute path on this machine. */
  readonly from: string
  readonly to: string
}

/** Lines that a run appends. One writer at a time. */
export interface LineLog {
  /** The line stands in the storage when the promise is fulfilled. After a failure every later call fails too. */
  readonly append: (line: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Identifies a file of this machine: it is another file where any of this differs. */
export interface FileMark {
  readonly bytes: number
  readonly inode: string
  /** Nanoseconds since 1970: when its bytes were written, and when anything of it was changed. */
  readonly modified: string
  readonly changed: string
}

/** Files that were hashed before. */
export interface KnownFiles {
  /** Whether the file that bears this mark was found to be what it should be. */
  readonly knows: (file: FileFacts, mark: FileMark) => boolean
  readonly learn: (file: FileFacts, mark: FileMark) => void
}

/** How far a fetch is: of what was not here yet, then of what is read for its hash. */
export interface FetchProgress {
  readonly phase: 'fetching' | 'checking'
  /** Files that are whole. */
  readonly files: number
  readonly filesTotal: number
  readonly bytes: number
  readonly bytesTotal: number
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined
  /** Files that need not be hashed again; `all`: only lengths are compared. @default none */
  readonly known?: KnownFiles | 'all' | undefined
  /** Called whenever bytes arrive, and for each file that is complete. */
  readonly onProgress?: ((progress: FetchProgress) => void) | undefined
}

export interface ExamineOptions {
  /** Whether its lines are counted too. @default false */
  readonly countLines?: boolean
  readonly signal?: AbortSignal | undefined
}

/** How a file of a folder is replaced; of a bucket nothing of it applies. */
export interface ReplaceOptions {
  /** Whether nobody may write to it. @default false */
  readonly isReadOnly?: boolean | undefined
  /** Whether its bytes are brought to the disk: of a file that is made again where it is torn they need not be. @default true */
  readonly syncsBytes?: boolean | undefined
  /** Whether its name is on the disk too; else `sync` brings it there. @default true */
  readonly syncsName?: boolean | undefined
}

/** Counts of requests for ranges of a bucket. */
export interface RangeCounts {
  readonly files: number
  readonly requests: number
  readonly bytes: number
}

/** Answers requests of this very machine for ranges of a bucket's files. Nothing of them is kept on a disk. */
export interface RangeServer {
  /** `http://127.0.0.1:port/secret/`: only who knows it reads, and only files that were offered. */
  readonly url: string
  /** Address of an offered file; `undefined` of any other. */
  readonly urlOf: (path: string) => string | undefined
  /** Lets files be read. They are opened when they are asked for first: see `failure`. */
  readonly offer: (files: readonly FileFacts[]) => void
  /**
   * Why an answer could not be given since this was asked last: `LAKE_DAMAGED` for a file that is missing, of another
   * length than expected or replaced since it was opened; `STORAGE_REFUSED`, `STORAGE_FAILED`.
   */
  readonly takeFailure: () => ToolkitError | undefined
  readonly counts: () => RangeCounts
  readonly close: () => void
}

/**
 * Errors are `ToolkitError`s: `DISK_FULL`, `WRITE_FAILED`, `OPEN_FILES_LIMIT`, and of a bucket `STORAGE_REFUSED` (credentials, rights,
 * no such bucket) and `STORAGE_FAILED` (not reached, or failing in spite of retries).
 */
export interface Storage {
  /** As a person gives it: `./lake`, `s3://bucket/prefix`. */
  readonly address: string
  /**
   * Folder of this machine, laid out like the storage: what is at work, and what was fetched to be read.
   * Of a folder it is the folder itself.
   */
  readonly local: string
  /** Whether files are copied to this machine before they are read. */
  readonly isRemote: boolean
  /** Absolute address for other tools, without a slash at its end: `file:///data/lake`, `s3://bucket/prefix`. */
  readonly uri: string

  /**
   * Makes it ready to be written to, and folders in it, which `hasFolder` finds as long as they are empty too (in a
   * bucket an empty object `<folder>/` marks each; it is no file for the other functions).
   *
   * @param mode bits of the storage's own folder where it is new: what is made in it takes them. @default 0o700
   */
  readonly prepare: (folders: readonly string[], mode?: number) => Promise<void>
  /** Whether there is such a folder: one that was prepared, or one that holds a file at any depth. */
  readonly hasFolder: (folder: string) => Promise<boolean>
  /** Facts of a file; `null` where there is none. */
  readonly stat: (path: string) => Promise<StoredFile | null>
  /** Every file below a folder at any depth, by path; none where there is no such folder. `''`: all of the storage. */
  readonly list: (folder: string) => Promise<readonly StoredFile[]>
  /** Files and folders directly in a folder, by name; none where there is no such folder. `''`: the storage itself. */
  readonly entries: (folder: string) => Promise<readonly StoredEntry[]>
  /** A whole small file; `null` where there is none. */
  readonly read: (path: string) => Promise<Buffer | null>
  /**
   * Creates a whole file if there is none. Of several at once exactly one wins; a reader sees all of it or nothing.
   *
   * @param syncsName whether its name is on the disk too; else `sync` brings it there. @default true
   * @returns whether it was created by this call
   */
  readonly create: (path: string, data: string | Uint8Array, syncsName?: boolean) => Promise<boolean>
  /**
   * Creates a folder with small files (name → text) if there is none: atomically, or one after the
   * other in the order given, so that the last one says that it is whole.
   *
   * @returns whether it was created by this call
   */
  readonly createFolder: (folder: string, files: ReadonlyMap<string, string>) => Promise<boolean>
  /** Writes a file whole, over an older one where there is one. */
  readonly replace: (path: string, data: string | Uint8Array, options?: ReplaceOptions) => Promise<void>
  /** Removes files; such as are gone already are fine. Folders left empty go too. */
  readonly remove: (paths: readonly string[]) => Promise<void>
  /**
   * Removes a folder and all below it: atomically, or file by file, of these the one named
   * `first` before all others.
   */
  readonly removeFolder: (folder: string, first?: string) => Promise<void>

  /**
   * Makes a staged file durable, so that it survives this process. A folder leaves it in staging; a bucket
   * takes it to its path (which nobody reads before a snapshot lists it) and frees the local disk.
   */
  readonly stage: (from: string, to: FileFacts) => Promise<void>
  /** Whether a staged file is unchanged, in staging or at its path already. */
  readonly isStaged: (from: string, to: FileFacts, signal?: AbortSignal) => Promise<boolean>
  /** Moves staged files to their paths; `sync` brings their names to the disk. May be called again after a crash halfway through. */
  readonly publish: (placements: readonly StagedPlacement[]) => Promise<void>
  /** Syncs the names of files to the disk, each folder once, before something refers to them. */
  readonly sync: (paths: readonly string[]) => Promise<void>

  /**
   * Brings files to `local` where they are not there already, and compares the length and the hash of each.
   *
   * @throws {ToolkitError} `LAKE_DAMAGED`, naming the file, when one is missing or not what it should be
   */
  readonly fetch: (files: readonly FileFacts[], options?: FetchOptions) => Promise<void>

  /**
   * The same for files that are read once: a bucket's are copied into a folder of the caller, who removes it, and not
   * kept in `local`; those that stand there already are linked. A folder's stay where they are.
   *
   * @param folder absolute path below `local`
   * @returns the folder below which the files stand
   */
  readonly fetchTo: (folder: string, files: readonly FileFacts[], options?: FetchOptions) => Promise<string>

  /**
   * Serves ranges of its files to other tools of this machine, until it is closed. Absent of a folder: its files can be
   * read where they are.
   */
  readonly serveRanges?: () => Promise<RangeServer>

  /**
   * The last bytes of a file. Absent of a folder: its files can be read where they are.
   *
   * @throws {ToolkitError} `LAKE_DAMAGED` where it is missing or of another length than expected
   */
  readonly readEnd?: (file: FileFacts, bytes: number) => Promise<Buffer>

  /**
   * Reads a stored file to its end, never a copy that was fetched earlier, and hands over its hash with the path of
   * a local file of these very bytes. Of a bucket that is a copy which is removed when `use` has ended.
   *
   * @returns what `use` gives; `null` where there is no such file
   * @throws the system's error when a file of a folder cannot be read
   */
  readonly examine: <T>(
    path: string,
    options: ExamineOptions,
    use: (hash: FileHash, localPath: string) => Promise<T>,
  ) => Promise<T | null>

  /**
   * Whole lines of a log, the torn last one left out; `null` where there is no log. An empty file of that path (as
   * `create` and `createFolder` make it) is an empty log. All are to be asked for, and each may be read
   * until the next one is.
   */
  readonly readLines: (path: string) => Promise<AsyncIterable<Buffer> | Iterable<Buffer> | null>
  /**
   * Opens a log behind its last whole line, or behind the first `keepLines` of them: what a power failure leaves of
   * a line may end like a whole one. Makes it where it is missing.
   */
  readonly openLines: (path: string, keepLines?: number) => Promise<LineLog>
}
