/** Errors of the toolkit: what could not be done, a code for programs, and whether a retry can help. */

/** Every code, what it means, and what a person does about it. docs/reference/codes.md is made from this. */
export const ERROR_CODES = {
  USAGE: 'a command or option is used wrongly; see --help',
  CONFIG_INVALID:
    'firmlake.toml is not as expected; see docs/configuration.md, or name another file with --config',
  TEXT_NOT_UTF8:
    'a text such as a list of ids or settings is not UTF-8; save it as UTF-8, with or without the mark',
  SOURCE_NOT_FOUND: 'a path or pattern matches no file; check the spelling',
  SOURCE_UNREADABLE: 'a source cannot be opened or read; check its permissions and the disk',
  SOURCE_CHANGED: 'a file changed while it was being read; run again when its writer is done',
  DECODE_DAMAGED: 'a compressed file is damaged; fetch it again and compare its length and hash',
  DECODE_TRUNCATED: 'a compressed file ends too early; fetch it again',
  DECODE_TRAILING: 'trailing bytes after the compressed data; fetch the file again',
  NODE_VULNERABLE:
    'this release of Node must not decode Brotli (CVE-2026-111497); install one that the message names',
  DECODE_LIMIT: 'a file expands beyond the limit; raise --max-ratio only for a file you trust',
  SOURCE_FORM: 'a source is not JSON Lines or JSON; its message says what it looks like and what to do',
  DOCUMENT_DAMAGED:
    'a JSON list or saved page is cut off, or what stands around its records is no JSON; save it again',
  CONTENT_UNKNOWN: 'the first record shows neither companies nor relations; give --content',
  LAKE_NOT_FOUND: 'the folder holds no lake; check --lake, or make one with "firmlake convert"',
  SNAPSHOT_NOT_FOUND: 'the lake has no snapshot of that number; see "firmlake status"',
  SNAPSHOT_FORGOTTEN:
    'the snapshot is gone for ever: it held companies or persons that were forgotten; use a later one',
  SNAPSHOT_DAMAGED: 'a snapshot does not match its own hash or form; run "firmlake verify"',
  LAKE_DAMAGED: 'files of the lake are changed, cut, missing or unreadable; "firmlake verify" names them',
  LAKE_UNRELEASED:
    'the lake was made by a build before the first release; load its sources again into a new lake',
  LAKE_NEWER: 'the lake was written by a later release; use the one that the message names, or a later one',
  COMMIT_CONFLICT: 'other runs kept committing first; run the same command again',
  PROJECTION_INVALID:
    'what a load or a target is to leave out is declared wrongly; the message says what, see docs/less-data.md',
  PROJECTION_CHANGED:
    'the lake was loaded with another declaration of what it takes; --change-taken allows it',
  HASH_KEY_WRONG: 'the key of hashed columns is missing, too short or another one; see docs/less-data.md',
  TEXT_REDACTED: 'quarantined lines have no text here; mend their source and load it again with --again',
  QUARANTINE_LIMIT: 'more lines are bad than --max-quarantined allows; see "firmlake quarantine list"',
  RUN_NOT_FOUND: 'there is no such unfinished run; see "firmlake status"',
  RUN_LIVE: 'another process is still running it; wait for it',
  RUN_NOT_RESUMABLE:
    'the run cannot be resumed; run its command again, one of many machines after "firmlake run cancel"',
  RUN_INCOMPLETE: 'units of the run are not done yet; try again when the other workers are done',
  RUN_OTHER_RELEASE: 'the run was planned by another release; work on it and commit it with that one',
  PLAN_ORIGIN:
    'the plan of a run names another service than the one that the token is for; nothing was sent to it',
  PACKAGE_MISSING:
    'the packages of an optional part are not installed; the message has the command that installs them',
  ENGINE_UNREACHABLE:
    'the server of the engine does not answer; check --temporal and run the same command again: runs go on meanwhile',
  ENGINE_REFUSED:
    'the server of the engine does not accept the caller; check --namespace, TLS and the API key',
  ENGINE_ENDED: 'the engine ended the run, on request or by its limits; the same command resumes it',
  STORAGE_REFUSED: 'the object storage refuses access; check the bucket, the credentials and their rights',
  STORAGE_FAILED: 'the object storage does not answer as it should; run the same command again',
  PUBLISH_CONFLICT: 'the published table was changed by someone else; see docs/published-tables.md',
  CATALOG_FAILED: 'the Iceberg catalog does not answer as it should; check --catalog and its token',
  TARGET_REFUSED: 'the target of an export or a copy cannot be used; its message says why, check the address',
  TARGET_OF_ANOTHER_LAKE:
    'the target holds the rows of another lake; give another target, or hand it over to this lake with --adopt',
  TARGET_AHEAD:
    'the target shows what the lake does not have, such as after a backup took its place; --overwrite loads it anew',
  TARGET_FAILED: 'the target of an export failed; run the same command again, it resumes',
  COMPACT_IMPOSSIBLE: 'runs disagree on which line items are scaled; load their sources into a new lake',
  IDS_UNKNOWN:
    'the lake has none of the companies and persons that it is to forget; check the ids, and where they are read from',
  FORGET_IMPOSSIBLE:
    'a record that was loaded before is refused by this release; use the release that loaded it',
  DISK_FULL: 'the disk is full; make room and run the same command again',
  OPEN_FILES_LIMIT:
    'no further file may be opened; raise the limit, such as with "ulimit -n 65536", and run the same command again',
  WRITE_FAILED: 'a file could not be written; check the disk and permissions, then run the command again',
  MEMORY_FULL: 'DuckDB needs more memory than it was given; raise --memory, or give fewer --threads',
  QUERY_REFUSED: 'only one statement is allowed, a SELECT whose functions compute or read',
  QUERY_FAILED: 'DuckDB could not run the query; its message says why',
  ENGINE_FAILED: 'DuckDB failed on data that passed all checks; report it with the message',
  TOKEN_MISSING: 'no token was given; set FIRMLAKE_TOKEN or give --token-file',
  TOKEN_INVALID:
    'a token is too short or holds characters that no bearer token may; look for a line end or a space in it',
  TOKEN_REFUSED: 'the service does not accept the token (401); get a new token',
  ADDRESS_REFUSED: 'give an https address; plain http is only for this machine',
  SERVICE_FORBIDDEN: 'the token lacks permission (403); ask for a wider subscription',
  SERVICE_NOT_FOUND: 'the service has no such operation or file (404); check --url and the id',
  SERVICE_REDIRECTED:
    'the service answered with a redirect, which is not followed with a token; give the final address',
  SERVICE_FAILED: 'the service kept failing; run the same command again, it resumes',
  SERVICE_BUSY: 'the service asks to wait longer than --max-wait; run the same command again later',
  CLOCK_DIFFERS:
    'the clocks of the service and of this machine differ by a day, or the service is before the last pull; set the wrong one right, or give --trust-clock',
  DAYS_AHEAD: 'the days asked for begin in the future by the clock of the service; give another --since',
  ANSWER_INVALID: 'an answer is not what the interface says; report it to the service with the message',
  ANSWER_DISORDERED: 'pages came in a wrong order; run the same command again, and report it if it stays',
  COMPANIES_MISSING:
    'the service lists or counts records that it did not give; what came is committed: run the same command again, and report it if it stays',
  DOWNLOAD_DAMAGED: 'a batch file came damaged each time; fetch it later or report it to the service',
  REQUEST_REFUSED: 'the service refused the request (400); its message says why',
  SEARCH_MISSING: 'a search needs at least one search parameter; give --search',
  PAGE_NUMBER_REFUSED: 'the page number is outside what the service allows',
  PAGE_SIZE_REFUSED: 'the page size is outside what the service allows; give --page-size from 1 to 500',
  CURRENCY_CHANGED:
    'figures of the lake would be replaced by figures in another currency; --change-currency allows it',
  CURRENCY_REFUSED: 'the service has no such currency; give another --currency',
  SORT_REFUSED: 'the service cannot sort by this field or in this direction',
  COUNTRY_REFUSED:
    'the token is not authorized for a country of the search, or there is none of that code; check it',
  PARAMETER_REFUSED: 'a search parameter is unknown; see "firmlake plan companies --parameters"',
  VALUES_REFUSED: 'a search parameter has too many values or one of a wrong form',
  CURSOR_REFUSED: 'the service did not accept the cursor even in a fresh chain; report it to the service',
  CURSOR_CAP: 'a search has more companies than one cursor chain delivers; narrow it, or use batch files',
  CURSOR_COMBINED: 'options were used together with a cursor that do not go with it',
  COUNTRY_NEEDED: 'a search by national identification number needs CountryCode too',
  LOAD_HELD:
    'a load is held back, as checks fail in it; "firmlake release" shows it, "firmlake discard" gives it up',
  NOTHING_HELD: 'no load is held back; see "firmlake status"',
  CHECK_FAILED: 'what is expected of the lake does not hold; see "firmlake check"',
  NOTHING_FOUND: 'the search found no record, and --require-records expects one; check its values',
  PLAN_IMPOSSIBLE: 'the search cannot be cut into windows small enough; narrow it, or use batch files',
  INDEX_UNUSABLE: 'the serving index cannot be used; remove its folder and start again',
  TOKENS_UNREADABLE: 'the file of tokens cannot be read; compare it with docs/serving.md',
  RATES_UNREADABLE: 'the file of rates cannot be read; it needs the columns currency,year,units_per_usd',
  FAULTS_UNREADABLE: 'the file of faults cannot be read; compare it with docs/serving.md',
  EMBEDDER_FAILED: 'the embedding service does not answer as it should; check its address and model',
  LISTEN_FAILED: 'the server cannot listen there; choose another --port or --host',
  INTERRUPTED: 'nothing half done is visible; run the same command again',
} as const

/** A code of `ERROR_CODES`. */
export type ErrorCode = keyof typeof ERROR_CODES

export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(ERROR_CODES, value)

/** An error with a code and facts for programs. Messages name files, lines and ids, never a record's content. */
export class ToolkitError extends Error {
  override readonly name = 'ToolkitError'
  readonly code: ErrorCode
  readonly context: Readonly<Record<string, string | number>>
  constructor(
    code: ErrorCode,
    message: string,
    context: Readonly<Record<string, string | number>> = {},
    cause?: unknown,
  ) {
    super(message, { cause })
    this.code = code
    this.context = context
  }
}

/** The system's own code of a failure (`ENOENT`, `ENOSPC`, …), if it has one. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const READ_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission is denied',
  EISDIR: 'it is a folder',
  EIO: 'the disk failed (EIO)',
}

/** Why a file cannot be read, after `Cannot …: `; a rare reason is the system's code. */
export const readReason = (error: unknown): string => {
  const code = systemCode(error)
  return READ_REASONS[code ?? ''] ?? code ?? 'it cannot be opened'
}

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Why a run failed, for a person to read and for a program that decides whether to resume it. */
export interface Failure {
  /** An `ErrorCode`, or `UNEXPECTED`; another release may write one that this one does not know. */
  readonly code: string
  readonly message: string
}

/** Why work ended, without data; `undefined` where it was only interrupted. Other errors' words may quote data. */
export const failureOf = (caught: unknown): Failure | undefined => {
  const error = openFilesError('Cannot go on', caught) ?? caught
  if (error instanceof ToolkitError)
    return error.code === 'INTERRUPTED' ? undefined : { code: error.code, message: error.message }
  const system = systemCode(error)
  return {
    code: 'UNEXPECTED',
    message: system === undefined ? 'it failed unexpectedly' : `it failed: ${system}`,
  }
}

/** Codes of failures that come again however often the same work is done: a person has to change something first. */
const FINAL_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['DECODE_DAMAGED', 'DECODE_TRUNCATED', 'DECODE_TRAILING', 'DECODE_LIMIT'] as const),
  ...(['SOURCE_FORM', 'DOCUMENT_DAMAGED', 'CONTENT_UNKNOWN', 'SOURCE_NOT_FOUND'] as const),
  ...(['QUARANTINE_LIMIT', 'RUN_NOT_RESUMABLE', 'PROJECTION_INVALID', 'TEXT_REDACTED'] as const),
  ...(['REQUEST_REFUSED', 'SEARCH_MISSING', 'PAGE_NUMBER_REFUSED', 'PAGE_SIZE_REFUSED'] as const),
  ...(['CURRENCY_REFUSED', 'CURRENCY_CHANGED', 'SORT_REFUSED', 'COUNTRY_REFUSED', 'COUNTRY_NEEDED'] as const),
  ...([
    'PARAMETER_REFUSED',
    'VALUES_REFUSED',
    'CURSOR_CAP',
    'CURSOR_COMBINED',
    'PLAN_IMPOSSIBLE',
    'DAYS_AHEAD',
  ] as const),
  'LOAD_HELD',
])

/** Whether work that failed so can only fail again. */
export const isFinal = ({ code }: Pick<Failure, 'code'>): boolean => FINAL_CODES.has(code)

interface WriteFault {
  readonly code: 'DISK_FULL' | 'WRITE_FAILED' | 'OPEN_FILES_LIMIT'
  readonly reason: string
  /** DuckDB's text of this fault, which has no code; absent where it may also be about a file that was read. */
  readonly text?: RegExp
}

/** No file may be opened, whether to be written or read. DuckDB's texts begin alike, and the longer one goes first. */
const OPEN_FILES_FAULTS = {
  ENFILE: {
    code: 'OPEN_FILES_LIMIT',
    reason: 'the system has too many files open (ENFILE), end other programs or raise fs.file-max',
    text: /too many open files in system/i,
  },
  EMFILE: {
    code: 'OPEN_FILES_LIMIT',
    reason: 'the process has too many files open (EMFILE), raise its limit, such as with "ulimit -n 65536"',
    text: /too many open files/i,
  },
} as const satisfies Readonly<Record<string, WriteFault>>

/** Faults of a write by the system's code, with their words for a person. */
const WRITE_FAULTS: Readonly<Record<string, WriteFault>> = {
  ENOSPC: {
    code: 'DISK_FULL',
    reason: 'the disk is full, make room and run the command again',
    text: /no space left on device|not enough disk space/i,
  },
  EDQUOT: {
    code: 'DISK_FULL',
    reason: 'the quota of the disk is used up, make room and run the command again',
    text: /disk quota exceeded/i,
  },
  EIO: {
    code: 'WRITE_FAILED',
    reason: 'the disk failed (EIO), expected one that works; look at the log of the system',
    text: /input\/output error/i,
  },
  EROFS: {
    code: 'WRITE_FAILED',
    reason: 'the file system is read-only, expected one that can be written',
    text: /read-only file system/i,
  },
  EACCES: {
    code: 'WRITE_FAILED',
    reason: 'permission is denied, expected a folder that this user may write',
  },
  ENOENT: {
    code: 'WRITE_FAILED',
    reason:
      'its folder does not exist, expected one that is there, and that nobody removes or moves meanwhile',
  },
  ...OPEN_FILES_FAULTS,
}

const writeFaultOf = (error: unknown, reason: string): WriteFault | undefined => {
  const code = systemCode(error)
  const known = WRITE_FAULTS[code === 'EPERM' ? 'EACCES' : (code ?? '')]
  return known ?? Object.values(WRITE_FAULTS).find(({ text }) => text?.test(reason))
}

/** Wraps a failed write: what the system says of the disk (also where only DuckDB's text says so) in words. */
export const writeError = (action: string, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const reason = messageOf(error)
  const fault = writeFaultOf(error, reason)
  return new ToolkitError(fault?.code ?? 'WRITE_FAILED', `${action}: ${fault?.reason ?? reason}`, {}, error)
}

/**
 * A failure because no further file may be opened, as an error of ours; `undefined` for any other error. It says nothing of the
 * file: whoever takes a failed read for damage asks this first.
 *
 * @param action `Cannot …`
 */
export const openFilesError = (action: string, error: unknown): ToolkitError | undefined => {
  if (error instanceof ToolkitError) return error.code === 'OPEN_FILES_LIMIT' ? error : undefined
  if (!(error instanceof Error)) return undefined
  const code = systemCode(error)
  // Node says it in the text alone where it looks for a package.
  const isText = !('syscall' in error)
  const fault = Object.entries(OPEN_FILES_FAULTS).find(
    ([name, { text }]) => name === code || (isText && text.test(error.message)),
  )?.[1]
  return fault && new ToolkitError(fault.code, `${action}: ${fault.reason}`, {}, error)
}

/** DuckDB's words where its limit does not suffice, and how much of it was used. */
const OUT_OF_MEMORY = /^Out of Memory Error: [^\n]*?(\([^()"']* used\))?$/m

/** An error of DuckDB about memory, as one of ours; `undefined` for any other error. @param action `Cannot …` */
export const memoryError = (action: string, error: unknown): ToolkitError | undefined => {
  if (error instanceof ToolkitError || !(error instanceof Error)) return undefined
  const found = error.message.startsWith('Out of Memory Error') ? OUT_OF_MEMORY.exec(error.message) : null
  if (found === null) return undefined
  const used = found[1] === undefined ? '' : ` ${found[1]}`
  return new ToolkitError('MEMORY_FULL', `${action}: DuckDB ran out of memory${used}`, {}, error)
}

const WRITING_CALLS =
  /^(write|fsync|fdatasync|mkdir|mkdtemp|rename|link|symlink|unlink|rm|rmdir|ftruncate|truncate|copyfile)/

/** A failure of the system that nobody has put into words, as one of ours; `undefined` for any other error. */
export const systemError = (error: unknown): ToolkitError | undefined => {
  const code = systemCode(error)
  if (code === undefined || !(error instanceof Error) || !('syscall' in error)) return undefined
  const path = 'path' in error && typeof error.path === 'string' ? ` "${error.path}"` : ' a file'
  const tooMany = openFilesError(`Cannot open${path}`, error)
  if (tooMany !== undefined) return tooMany
  const never = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
  if (never || WRITING_CALLS.test(String(error.syscall))) return writeError(`Cannot write${path}`, error)
  return /^(open|read|stat|lstat|fstat|scandir|opendir|readlink|access)/.test(String(error.syscall))
    ? new ToolkitError('SOURCE_UNREADABLE', `Cannot read${path}: ${readReason(error)}`, {}, error)
    : undefined
}

/** An error of ours, or what is known of one of the system or of DuckDB; `undefined` for a fault of the toolkit. */
export const knownError = (error: unknown): ToolkitError | undefined =>
  error instanceof ToolkitError
    ? error
    : (memoryError('Cannot go on', error) ?? systemError(error) ?? openFilesError('Cannot go on', error))

/**
 * Does work that a signal may stop.
 *
 * @param what the work, for the message: `The export`
 * @throws {ToolkitError} `INTERRUPTED` when it fails after the signal; else what it throws
 */
export const orInterrupted = async <T>(
  what: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!signal?.aborted || (error instanceof ToolkitError && error.code === 'INTERRUPTED')) throw error
    throw new ToolkitError('INTERRUPTED', `${what} was interrupted`, {}, error)
  }
}
