/** Errors of the toolkit: what could not be done, a code for programs, and whether trying again can help. */

/** Every code, what it means, and what a person does about it. The README's table is made from this. */
export const ERROR_CODES = {
  USAGE: 'a command or option is used wrongly; see --help',
  SOURCE_NOT_FOUND: 'a path or pattern matches no file; check the spelling',
  SOURCE_UNREADABLE: 'a source cannot be opened or read; check its permissions and the disk',
  SOURCE_CHANGED: 'a file changed while it was being read; run again when its writer is done',
  DECODE_DAMAGED: 'a compressed file is damaged; fetch it again and compare its length and hash',
  DECODE_TRUNCATED: 'a compressed file ends too early; fetch it again',
  DECODE_TRAILING: 'a compressed file goes on after its end with bytes of another kind; fetch it again',
  DECODE_LIMIT: 'a file expands beyond the limit; raise --max-ratio only for a file you trust',
  CONTENT_UNKNOWN: 'companies or relations cannot be told from the first record; give --content',
  LAKE_NOT_FOUND: 'the folder holds no lake; check --lake, or make one with "firmlake convert"',
  SNAPSHOT_NOT_FOUND: 'the lake has no snapshot of that number; see "firmlake status"',
  SNAPSHOT_DAMAGED: 'a snapshot does not match its own hash or form; run "firmlake verify"',
  LAKE_DAMAGED: 'files of the lake are changed, cut, missing or unreadable; "firmlake verify" names them',
  COMMIT_CONFLICT: 'other runs kept committing first; run the same command again',
  QUARANTINE_LIMIT: 'more lines are bad than --max-quarantined allows; see "firmlake quarantine list"',
  RUN_NOT_FOUND: 'there is no such unfinished run; see "firmlake status"',
  RUN_LIVE: 'the run is still at work in another process; wait for it',
  RUN_NOT_RESUMABLE: 'the run cannot go on where it stood; run its command again',
  DISK_FULL: 'the disk is full; make room and run the same command again',
  WRITE_FAILED: 'a file could not be written; check the disk and permissions, then run the command again',
  QUERY_REFUSED: 'only one statement that reads is allowed; write a single SELECT',
  QUERY_FAILED: 'DuckDB could not run the query; its message says why',
  ENGINE_FAILED: 'DuckDB failed on data that passed all checks; report it with the message',
  INTERRUPTED: 'the run was stopped; continue with "firmlake resume" or the same command',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

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

/** Wraps a failed write: a full disk (also where only DuckDB's text says so) keeps its own code. */
export const writeError = (action: string, error: unknown): ToolkitError => {
  if (error instanceof ToolkitError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const full = systemCode(error) === 'ENOSPC' || /no space left on device|not enough disk space/i.test(reason)
  return full
    ? new ToolkitError(
        'DISK_FULL',
        `${action}: the disk is full, make room and run the command again`,
        {},
        error,
      )
    : new ToolkitError('WRITE_FAILED', `${action}: ${reason}`, {}, error)
}
