/**
 * Watches a nightly run: writes a metrics file when it has ended, and alarms by a command or a web hook when it failed. An alarm
 * holds no data, no token, and no message but that of checks, which has names and numbers; nothing here changes the exit code.
 */

import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type CheckResult, ChecksFailed, failedText } from '../core/checks.ts'
import { ERROR_CODES, failureOf, isErrorCode, ToolkitError } from '../core/errors.ts'
import { EXIT } from '../core/exit-codes.ts'
import { listenToStages } from '../core/stages.ts'
import { isLoopback } from '../support/http-values.ts'
import { verifiedFetch } from '../support/verified-fetch.ts'
import { NightTotals, writeMetricsFile } from './night-metrics.ts'

export interface NightOptions {
  readonly lake: string
  /** A program and arguments, run where the night failed. @default none */
  readonly command?: readonly string[] | undefined
  /** Address of a web hook that is posted to then. @default none */
  readonly webhook?: string | undefined
  /** Path of the metrics file. @default none */
  readonly metricsFile?: string | undefined
  readonly warn: (text: string) => void
}

const STOPPED: ReadonlySet<number> = new Set([EXIT.interrupted, EXIT.terminated])

/** The key of a file with a fault; a value of it may be a secret. */
const keyOf = (error: unknown): readonly string[] =>
  error instanceof ToolkitError && error.code === 'CONFIG_INVALID' && typeof error.context.key === 'string'
    ? [error.context.key]
    : []

/** A part of the night that failed. */
interface FailedPart {
  readonly name: string
  /** The checks that failed, where it failed because of them. */
  readonly checks?: readonly CheckResult[]
}

interface EndedNight {
  readonly lake: string
  readonly exitCode: number
  readonly error: unknown
  readonly parts: readonly FailedPart[]
  readonly checks: readonly CheckResult[]
  readonly ended: Date
  readonly seconds: number
}

/** Each once: all loads of a night are held back together. */
const checksOf = (parts: readonly FailedPart[]): readonly CheckResult[] => [
  ...new Map(parts.flatMap(({ checks = [] }) => checks).map((one) => [one.name, one])).values(),
]

/** The text about the error: which checks failed, where it is that; else the action to take. */
const reasonOf = (error: unknown, remedy: string | undefined, checks: readonly CheckResult[]): string => {
  if (error instanceof ChecksFailed) return `: ${error.message}`
  return `${remedy ? `: ${remedy}` : ''}${checks.length > 0 ? `; checks failed: ${failedText(checks)}` : ''}`
}

const alarmOf = ({ lake, exitCode, error, parts, checks, ended, seconds }: EndedNight): Alarm => {
  const outcome = exitCode === EXIT.busy ? 'later' : exitCode === EXIT.excluded ? 'partial' : 'failed'
  const code = error === undefined ? undefined : failureOf(error)?.code
  const remedy = isErrorCode(code) ? ERROR_CODES[code] : undefined
  const host = hostname()
  const failed = parts.length > 0 ? parts.map(({ name }) => name) : keyOf(error)
  const what = [code ?? '', ...failed].filter((one) => one !== '').join(', ')
  const text =
    `firmlake on ${host}: the night${lake === '' ? '' : ` of "${lake}"`} ended with exit code ${exitCode}` +
    `${what === '' ? '' : ` (${what})`}${reasonOf(error, remedy, checks)}`
  return {
    ...{ text, outcome, exitCode, host, failed },
    ...(lake !== '' && { lake }),
    ...(code !== undefined && { code }),
    ...(remedy !== undefined && { remedy }),
    ...(checks.length > 0 && { checks }),
    ...{ ended: ended.toISOString(), seconds },
  }
}

/** @returns what is called when the night has ended, with what it failed with where that is known, and the parts that failed */
export const watchNight = ({ lake, command, webhook, metricsFile, warn }: NightOptions) => {
  const started = new Date()
  const totals = new NightTotals()
  let failure: unknown
  const stop = listenToStages(({ stage }) => ({ committed }, error) => {
    if (committed) totals.add(committed)
    if (stage === 'program') failure = error
  })
  return async (exitCode: number, error: unknown, parts: readonly FailedPart[] = []): Promise<void> => {
    stop()
    const ended = new Date()
    const checks = checksOf(parts)
    if (metricsFile !== undefined)
      await writeMetricsFile(metricsFile, { lake, exitCode, started, ended, totals, checks }).catch(
        ({ message }: Error) => warn(`the metrics file could not be written: ${message}`),
      )
    if (exitCode === EXIT.done || STOPPED.has(exitCode)) return
    const seconds = Math.round(ended.getTime() - started.getTime()) / 1000
    const alarm = alarmOf({ lake, exitCode, error: error ?? failure, parts, checks, ended, seconds })
    const tell = async (what: string, told: Promise<string | undefined>): Promise<void> => {
      const reason = await told
      if (reason !== undefined)
        warn(`${what} of [hooks] could not be notified of the failed night: ${reason}`)
    }
    await Promise.all([
      ...(command ? [tell('the command', runAlarmCommand(command, alarm, process.env))] : []),
      ...(webhook ? [tell('the web hook', postAlarm(webhook, alarm))] : []),
    ])
  }
}

/** The alarm as JSON: on standard input of the command, as the body of the web hook. */
interface Alarm {
  /** A line for people; chat systems show a field of this name. */
  readonly text: string
  readonly outcome: 'failed' | 'partial' | 'later'
  readonly exitCode: number
  /** Name of the machine. */
  readonly host: string
  /** Address of the lake; absent where it is not known. */
  readonly lake?: string
  /** Names of the parts of the night that failed, or the key of a firmlake.toml with a fault; empty where neither is known. */
  readonly failed: readonly string[]
  /** A code of docs/reference/codes.md; absent where there is none. */
  readonly code?: string
  /** The action to take. */
  readonly remedy?: string
  /** The checks that failed, with value and limit; absent where none did. */
  readonly checks?: readonly CheckResult[]
  /** ISO 8601, UTC. */
  readonly ended: string
  readonly seconds: number
}

/** Pauses before another attempt, in milliseconds. */
const PAUSES_MS = [1000, 4000] as const
const COMMAND_LIMIT_MS = 60_000
const HOOK_LIMIT_MS = 10_000

/** Variables that a command needs; others may be secret. */
const PASSED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/

/** @returns why it failed; `final`: again it would fail the same */
type Attempt = () => Promise<{ readonly reason: string; readonly final?: boolean } | undefined>

const withRetries = async (attempt: Attempt): Promise<string | undefined> => {
  for (let number = 0; ; number++) {
    const failed = await attempt()
    const pauseMs = PAUSES_MS[number]
    if (failed === undefined) return undefined
    if (failed.final || pauseMs === undefined) return failed.reason
    await delay(pauseMs)
  }
}

/** Runs a command without a shell, at most a minute. @returns why it failed, after three attempts */
const runAlarmCommand = (
  [command = '', ...args]: readonly string[],
  alarm: Alarm,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> =>
  withRetries(
    () =>
      new Promise((resolve) => {
        const child = spawn(command, args, {
          env: Object.fromEntries(Object.entries(env).filter(([name]) => PASSED.test(name))),
          stdio: ['pipe', 'ignore', 'inherit'],
          signal: AbortSignal.timeout(COMMAND_LIMIT_MS),
          killSignal: 'SIGKILL',
        })
        child.on('error', ({ message }) => resolve({ reason: message, final: true }))
        child.on('close', (code, signal) =>
          resolve(code === 0 ? undefined : { reason: `it ended with ${code ?? signal}` }),
        )
        // The program need not read it.
        child.stdin.on('error', () => undefined)
        child.stdin.end(`${JSON.stringify(alarm)}\n`)
      }),
  )

/** Posts to a web hook. @param url may hold a secret: messages do not show it @returns as `runAlarmCommand` */
const postAlarm = async (url: string, alarm: Alarm): Promise<string | undefined> => {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address?.protocol !== 'https:' && !(address?.protocol === 'http:' && isLoopback(address.hostname)))
    return 'its variable holds no https address'
  return withRetries(async () => {
    try {
      const { ok, status, body } = await verifiedFetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alarm),
        signal: AbortSignal.timeout(HOOK_LIMIT_MS),
      })
      await body?.cancel()
      if (ok) return undefined
      return { reason: `it answers with ${status}`, final: status < 500 && status !== 408 && status !== 429 }
    } catch {
      return { reason: 'it does not answer' }
    }
  })
}
