/** Watches the runs of a command from outside, where variables of the environment ask for it. */

import type { Command } from 'commander'
import type { Observing } from '../observe/observe.ts'
import { note } from './output/print.ts'

/** Commands that do runs. */
const RUNNING: ReadonlySet<string> = new Set([
  ...(['convert', 'pull', 'sync', 'nightly', 'batches', 'resume', 'quarantine', 'compact', 'run'] as const),
])

const firstWord = (command: Command): string =>
  command.parent?.parent ? firstWord(command.parent) : command.name()

let observing: Observing | undefined

/** Begins to watch; loads nothing where nothing asks for it. */
export const observeRuns = async (command: Command): Promise<void> => {
  const asked = Object.keys(process.env).some((name) => /^(OTEL|OPENLINEAGE)_/.test(name))
  if (!asked || !RUNNING.has(firstWord(command))) return
  const { startObserving } = await import('../observe/observe.ts')
  observing = await startObserving({ env: process.env, warn: (text) => note(`warning: ${text}`) })
}

/** @returns `false` where an endpoint does not answer; `undefined` where nothing is watched */
export const closeObservers = async (): Promise<boolean | undefined> => observing?.close()
