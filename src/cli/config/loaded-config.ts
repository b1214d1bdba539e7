/** The `firmlake.toml` of this process, found before the command line is read, since its options take defaults from it; and the lake where nothing names one. */

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { LoadedConfig } from '../../config/find-file.ts'
import { note } from '../output/print.ts'

const NONE: LoadedConfig = { file: undefined, env: {}, notices: [] }

/** These commands answer without a lake: a file with a fault does not stop them. */
const WITHOUT = /^(-h|--help|-v|--version|help|completion|demo|init|config schema)( |$)/

let current = NONE

/** As the command line names it: the option may stand before and behind the command. */
const namedFile = (args: readonly string[]): string | undefined => {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  const at = options.findLastIndex((one) => one === '--config' || one.startsWith('--config='))
  if (at < 0) return process.env.FIRMLAKE_CONFIG || undefined
  return options[at] === '--config' ? options[at + 1] : options[at]?.slice('--config='.length)
}

/**
 * Finds the file, and puts the variables of `.env` beside it into the environment.
 *
 * @throws {ToolkitError} CONFIG_INVALID
 */
export const loadConfig = async (args: readonly string[]): Promise<LoadedConfig> => {
  current = NONE
  const words = args.slice(0, 2).join(' ')
  if (words === '' || WITHOUT.test(words) || args.some((one) => /^(-h|--help)$/.test(one))) return NONE
  const { findConfig } = await import('../../config/find-file.ts')
  current = await findConfig({ named: namedFile(args), cwd: process.cwd(), env: process.env })
  for (const notice of current.notices) note(`warning: ${notice}`)
  Object.assign(process.env, current.env)
  if (current.fault !== undefined) throw current.fault
  return current
}

/** The file that was loaded for this command; of one with a fault what is sound. */
export const loadedConfig = (): LoadedConfig => current

/** The folder in which an unnamed lake is looked for. */
export const LAKE_HERE = './lake'
/** The message where there is none either. */
export const LAKE_MISSING = `Cannot tell which lake is meant: expected --lake, FIRMLAKE_LAKE, lake = "…" in firmlake.toml, or a lake in ${LAKE_HERE}`

/** The lake in the working folder, if there is one. */
export const lakeHere = (): string | undefined =>
  existsSync(`${LAKE_HERE}/_manifest/lake-id.json`) ? LAKE_HERE : undefined

/** The lake of the working folder as the default of a command that needs one, and of those below it. */
export const defaultToLakeHere = (command: Command, lake = lakeHere()): void => {
  if (lake === undefined) return
  if (command.options.some(({ long, mandatory }) => long === '--lake' && mandatory))
    command.setOptionValueWithSource('lake', lake, 'default')
  for (const below of command.commands) defaultToLakeHere(below, lake)
}
