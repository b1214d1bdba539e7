/** Watches a night: a metrics file when it has ended, and an alarm when it failed. Nothing of it changes its exit code. */

import { ERROR_CODES, failureOf, isErrorCode } from '../../core/errors.ts'
import { EXIT } from '../../core/exit-codes.ts'
import { listenToStages } from '../../core/stages.ts'
import { type Alarm, postAlarm, runAlarmCommand } from './alarm.ts'
import { writeMetricsFile } from './metrics-file.ts'
import { NightTotals } from './night-totals.ts'

export interface NightOptions {
  readonly lake: string
  /** Its program and arguments, run where the night failed. @default none */
  readonly command?: readonly string[] | undefined
  /** Address of a web hook that is posted to then. @default none */
  readonly webhook?: string | undefined
  /** Path of the metrics file. @default none */
  readonly metricsFile?: string | undefined
  readonly warn: (text: string) => void
}

const STOPPED: ReadonlySet<number> = new Set([EXIT.interrupted, EXIT.terminated])

const alarmOf = (exitCode: number, error: unknown, ended: Date, seconds: number): Alarm => {
  const outcome = exitCode === EXIT.busy ? 'later' : exitCode === EXIT.leftOut ? 'partial' : 'failed'
  const code = error === undefined ? undefined : failureOf(error)?.code
  const remedy = isErrorCode(code) ? ERROR_CODES[code] : undefined
  const text = `firmlake: the night ended with exit code ${exitCode}${code ? `, ${code}` : ''}${remedy ? `: ${remedy}` : ''}`
  return {
    ...{ text, outcome, exitCode },
    ...(code !== undefined && { code }),
    ...(remedy !== undefined && { remedy }),
    ...{ ended: ended.toISOString(), seconds },
  }
}

/** @returns what is called when the night has ended, with what it failed with where that is known */
export const watchNight = ({ lake, command, webhook, metricsFile, warn }: NightOptions) => {
  const started = new Date()
  const totals = new NightTotals()
  let failure: unknown
  const stop = listenToStages(({ stage }) => ({ committed }, error) => {
    if (committed) totals.add(committed)
    if (stage === 'program') failure = error
  })
  return async (exitCode: number, error: unknown): Promise<void> => {
    stop()
    const ended = new Date()
    if (metricsFile !== undefined)
      await writeMetricsFile(metricsFile, { lake, exitCode, started, ended, totals }).catch(
        ({ message }: Error) => warn(`the metrics file could not be written: ${message}`),
      )
    if (exitCode === EXIT.done || STOPPED.has(exitCode)) return
    const seconds = Math.round(ended.getTime() - started.getTime()) / 1000
    const alarm = alarmOf(exitCode, error ?? failure, ended, seconds)
    const tell = async (what: string, told: Promise<string | undefined>): Promise<void> => {
      const reason = await told
      if (reason !== undefined) warn(`${what} of [hooks] could not be told that the night failed: ${reason}`)
    }
    await Promise.all([
      ...(command ? [tell('the command', runAlarmCommand(command, alarm, process.env))] : []),
      ...(webhook ? [tell('the web hook', postAlarm(webhook, alarm))] : []),
    ])
  }
}
