/** Watches the runs of a command from outside, where variables of the environment ask for it. */

import type { Command } from 'commander'
import type { Observing } from '../observe/observe.ts'
import { loadedConfig } from './config/loaded-config.ts'
import { note } from './output/print.ts'

/** Commands that do runs. */
const RUNNING: ReadonlySet<string> = new Set([
  ...([
    'convert',
    'pull',
    'sync',
    'nightly',
    'batches',
    'resume',
    'quarantine',
    'compact',
    'forget',
    'run',
  ] as const),
])

const firstWord = (command: Command): string =>
  command.parent?.parent ? firstWord(command.parent) : command.name()

let observing: Observing | undefined
let endNight: ((exitCode: number, error: unknown) => Promise<void>) | undefined

const warn = (text: string): void => note(`warning: ${text}`)

/** Begins to watch; loads nothing where nothing asks for it. */
export const observeRuns = async (command: Command): Promise<void> => {
  if (firstWord(command) === 'nightly') await observeNight()
  const asked = Object.keys(process.env).some((name) => /^(OTEL|OPENLINEAGE)_/.test(name))
  if (!asked || !RUNNING.has(firstWord(command))) return
  const { startObserving } = await import('../observe/observe.ts')
  observing = await startObserving({ env: process.env, warn })
}

/** A night has a metrics file and an alarm, where firmlake.toml or a variable asks for one. */
const observeNight = async (): Promise<void> => {
  const { hooks, metrics, lake = '' } = loadedConfig().file?.settings ?? {}
  const { FIRMLAKE_WEBHOOK: webhook, FIRMLAKE_METRICS_FILE: metricsFile = metrics?.file } = process.env
  const command = hooks?.on_failure
  if (!command && !webhook && !metricsFile) return
  const { watchNight } = await import('../observe/night.ts')
  endNight = watchNight({ lake: process.env.FIRMLAKE_LAKE ?? lake, command, webhook, metricsFile, warn })
}

/** Writes and tells what a night that has ended is to leave. @param error what the command failed with */
export const endObservedNight = async (error: unknown): Promise<void> =>
  endNight?.(Number(process.exitCode ?? 0), error)

/** @returns `false` where an endpoint does not answer; `undefined` where nothing is watched */
export const closeObservers = async (): Promise<boolean | undefined> => observing?.close()
