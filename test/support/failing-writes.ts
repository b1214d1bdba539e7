/** Makes the Nth writing call of a process below a folder fail: `fail-writes.c`, and the file that steers it. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('fail-writes.c', import.meta.url))
const TOOLS =
  process.env.FIRMLAKE_TEST_TOOLS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'firmlake-test-tools')

/** As in `fail-writes.c`. */
const KINDS = { ENOSPC: 1, EIO: 2, short: 3, kill: 4 } as const
export type WriteFault = keyof typeof KINDS
export const WRITE_FAULTS: readonly WriteFault[] = ['ENOSPC', 'EIO', 'short']
const [NO_NAMES_AT, FOLDER_AT, CALL_AT, CONTROL_BYTES] = [36, 64, 1088, 4096]

const compile = (): string | { readonly missing: string } => {
  if (process.platform !== 'linux') return { missing: `LD_PRELOAD is Linux's, this is ${process.platform}` }
  const folder = mkdtempSync(join(tmpdir(), 'firmlake-fail-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const library = join(folder, 'fail-writes.so')
  const args = ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl']
  const { status, stderr, error } = spawnSync('cc', args, { encoding: 'utf8' })
  if (status === 0) return library
  return { missing: `no C compiler (${error?.message ?? stderr.trim()}); run .ci/install-tools` }
}

let built: string | { readonly missing: string } | undefined

/** The library: what `.ci/install-tools` built of this very source, else built here. */
const findLibrary = (): string | { readonly missing: string } => {
  const [installed, source] = [join(TOOLS, 'fail-writes.so'), join(TOOLS, 'fail-writes.c')]
  if (existsSync(installed) && existsSync(source) && readFileSync(source).equals(readFileSync(SOURCE)))
    return installed
  built ??= compile()
  return built
}

export interface PlannedFault {
  readonly kind: WriteFault
  /** Only this call, or all from it on. */
  readonly once: boolean
  /** Counted from 1; 0 fails none and counts. */
  readonly nth: number
  /** No file gets a second name, but temporary ones do. @default false */
  readonly noNames?: boolean
}

export interface FaultsSeen {
  /** Calls that could have failed. */
  readonly counted: number
  /** Those that each kind can make fail, where all were counted: of EIO or `kill`. */
  readonly of: Readonly<Record<WriteFault, number>>
  readonly failed: number
  /** The first that failed: name of the function and path. */
  readonly call: string
}

export interface FailingWrites {
  /** For a process whose writes shall fail. */
  readonly env: Readonly<Record<string, string>>
  /** The file that steers it; another process may do that too. */
  readonly control: string
  /** Calls that were counted since the begin, a line each: number, function, path. */
  readonly trace: () => readonly string[]
  readonly remove: () => void
}

/** From now on writes below a folder (absolute) are counted and fail as planned. */
export const armFaults = (
  control: string,
  below: string,
  { kind, once, nth, noNames }: PlannedFault,
): void => {
  const bytes = Buffer.alloc(CONTROL_BYTES)
  for (const [at, number] of [1, KINDS[kind], once ? 0 : 1, nth].entries()) bytes.writeInt32LE(number, 4 * at)
  bytes.writeInt32LE(noNames ? 1 : 0, NO_NAMES_AT)
  bytes.write(below, FOLDER_AT)
  writeFileSync(control, bytes, { flag: 'r+' })
}

/** Lets writes pass again. @returns what was seen since they were armed */
export const disarmFaults = (control: string): FaultsSeen => {
  const bytes = readFileSync(control)
  const call = bytes.toString('utf8', CALL_AT, bytes.indexOf(0, CALL_AT))
  writeFileSync(control, Buffer.alloc(4), { flag: 'r+' })
  const [writes = 0, room = 0, others = 0] = [24, 28, 32].map((at) => bytes.readInt32LE(at))
  const all = writes + room + others
  return {
    counted: bytes.readInt32LE(16),
    failed: bytes.readInt32LE(20),
    call,
    of: { short: writes, ENOSPC: writes + room, EIO: all, kill: all },
  }
}

/** @returns why it cannot be had on this machine, for `needs` */
export const openFailingWrites = ({ traced = false } = {}): FailingWrites | { readonly missing: string } => {
  const library = findLibrary()
  if (typeof library !== 'string') return library
  const folder = mkdtempSync(join(tmpdir(), 'firmlake-fail-'))
  const [control, trace] = [join(folder, 'control'), join(folder, 'trace')]
  writeFileSync(control, Buffer.alloc(CONTROL_BYTES))
  return {
    control,
    env: {
      LD_PRELOAD: library,
      FIRMLAKE_FAIL_CONTROL: control,
      // What goes by a ring the library does not see.
      UV_USE_IO_URING: '0',
      ...(traced && { FIRMLAKE_FAIL_TRACE: trace }),
    },
    trace: () =>
      existsSync(trace)
        ? readFileSync(trace, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : [],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
