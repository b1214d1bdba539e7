/** Identifies the process that did something, in a form that outlives it: a pid alone comes back as another process's. */

import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'
import { DAY_MS } from './quantities.ts'

/** A process, also after its end. Empty texts where the system has no `/proc`. */
export interface ProcessIdentity {
  readonly host: string
  /** The kernel's id of this boot. */
  readonly boot: string
  /** The pid namespace: two containers of one host may both have a pid 7. */
  readonly namespace: string
  readonly pid: number
  /** Start of the process in clock ticks since boot; distinguishes a reused pid from the first one. */
  readonly started: string
}

/**
 * `unknown`: a process of another host or container, which cannot be seen from here. `other-boot`: one of this host before it was
 * started again, or of another host of the same name: no id tells them apart, for images of machines share theirs.
 */
export type Liveness = 'alive' | 'gone' | 'other-boot' | 'unknown'

const NO_HANDLE: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE'])

/** Without a file handle left nothing is known: a process that is not seen for that must not be taken for dead. */
const orEmpty = (read: () => string): string => {
  try {
    return read().trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_HANDLE.has(error.code)) throw error
    return ''
  }
}

/** State and start ticks out of `/proc/<pid>/stat`; the name in brackets may hold anything. */
const processStat = (pid: number): { state: string; started: string } | null => {
  const text = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields[0], fields[19]]
  return text !== '' && state && started ? { state, started } : null
}

const identify = (): ProcessIdentity => ({
  host: hostname(),
  boot: orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')),
  namespace: orEmpty(() => readlinkSync('/proc/self/ns/pid')),
  pid: process.pid,
  started: processStat(process.pid)?.started ?? '',
})

let own: ProcessIdentity | undefined

/** The identity of this process; the same object at every call. */
export const thisProcess = (): ProcessIdentity => {
  own ??= identify()
  return own
}

/** Whether the process runs. A killed one whose parent has not fetched its exit code yet is gone. */
export const livenessOf = (identity: ProcessIdentity, here: ProcessIdentity = thisProcess()): Liveness => {
  if (identity.host !== here.host) return 'unknown'
  if (identity.boot !== here.boot) return 'other-boot'
  if (identity.namespace !== here.namespace) return 'unknown'
  const stat = processStat(identity.pid)
  if (stat) {
    const same = identity.started === '' || stat.started === identity.started
    return same && stat.state !== 'Z' && stat.state !== 'X' ? 'alive' : 'gone'
  }
  try {
    process.kill(identity.pid, 0)
    return 'alive'
  } catch (error) {
    // EPERM: there is such a process and it is another user's, hidden from us in /proc.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? 'alive' : 'gone'
  }
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
const marksOf = (identity: ProcessIdentity): [string, string, string] => [
  shortHash(identity.host),
  shortHash(identity.boot),
  shortHash(identity.namespace),
]

let temporaryNames = 0

/**
 * A file name for something unfinished: `.tmp-` and its process, so that what a crash leaves behind is known
 * as such at once. No two calls in one process give the same name.
 */
export const temporaryName = (identity: ProcessIdentity = thisProcess()): string => {
  temporaryNames += 1
  const { pid, started } = identity
  return `.tmp-${[...marksOf(identity), pid, started || '0', threadId, temporaryNames].join('-')}`
}

const TEMPORARY = /^\.tmp-([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\d+)-\d+-\d+$/

/** Whether the process that made a temporary name runs; `null` when the name is not one of ours. */
export const temporaryLiveness = (name: string, here: ProcessIdentity = thisProcess()): Liveness | null => {
  const match = TEMPORARY.exec(name)
  if (!match) return null
  const [host, boot, namespace] = marksOf(here)
  const started = match[5] === '0' ? '' : (match[5] ?? '')
  return livenessOf(
    {
      host: match[1] === host ? here.host : 'another',
      boot: match[2] === boot ? here.boot : 'another',
      namespace: match[3] === namespace ? here.namespace : 'another',
      pid: Number(match[4]),
      started,
    },
    here,
  )
}

/** When a process that cannot be seen from here counts as gone. */
export interface IdleRule {
  readonly now: Date
  /** Time without a change, in milliseconds. @default a day */
  readonly idleMs?: number | undefined
}

/**
 * Whether something under a temporary name was left behind by a process that is gone; `false` of other names.
 *
 * @param changedMs its newest change
 */
export const isLeftover = (name: string, changedMs: number, { now, idleMs = DAY_MS }: IdleRule): boolean => {
  const liveness = temporaryLiveness(name)
  if (liveness === null || liveness === 'alive') return false
  return liveness === 'gone' || now.getTime() - changedMs > idleMs
}
