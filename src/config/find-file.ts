/** Finds `firmlake.toml`: the one that is named, else from the working folder upwards, if nobody else can have written it. */

import { constants, type Stats } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { systemCode, ToolkitError } from '../core/errors.ts'
import { decodeUserText } from '../core/user-text.ts'
import type { ConfigFile } from './read-settings.ts'

/** The name of the file of settings. */
export const FILE_NAME = 'firmlake.toml'
const ENV_NAME = '.env'
const FOR_OTHERS = 0o022

export interface LoadedConfig {
  readonly file: ConfigFile | undefined
  /** CONFIG_INVALID of the file: no command works by it then. */
  readonly fault?: ToolkitError | undefined
  /** Variables of `.env` beside it, without those of the environment itself. */
  readonly env: Readonly<Record<string, string>>
  /** Why files that were found do not count. */
  readonly notices: readonly string[]
}

export interface Finding {
  /** The file that is named; its owner does not matter then, that of `.env` beside it does. */
  readonly named?: string | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Id of the user, to compare owners with. @default that of the process */
  readonly uid?: number | undefined
}

type Judged = { readonly text: string; readonly place: string } | { readonly notice: string } | undefined

/** Why what stands there may be somebody else's; `undefined` where it is the user's alone. */
const doubtOf = ({ uid, mode }: Stats, what: string, own: number): string | undefined => {
  if (uid !== own && uid !== 0)
    return `${what} belongs to another user (${uid}), expected you (${own}) or root`
  if ((mode & FOR_OTHERS) === 0) return undefined
  return `others can write to ${what}, expected "chmod go-w"`
}

/** @param own whose files count; absent where that does not matter */
const judge = async (path: string, own: number | undefined): Promise<Judged> => {
  let handle: Awaited<ReturnType<typeof open>>
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    return { notice: `"${path}" cannot be read (${code})` }
  }
  try {
    const found = await handle.stat()
    if (!found.isFile()) return { notice: `"${path}" is no file` }
    const place = await realpath(path)
    if (own !== undefined) {
      const folders = [...new Set([dirname(path), dirname(place)])]
      const doubts = [doubtOf(found, `"${path}"`, own)]
      for (const folder of folders) doubts.push(doubtOf(await stat(folder), `its folder "${folder}"`, own))
      const doubt = doubts.find((one) => one !== undefined)
      if (doubt !== undefined) return { notice: `"${path}" is not used: ${doubt}` }
    }
    return { text: decodeUserText(await handle.readFile(), path), place }
  } finally {
    await handle.close()
  }
}

const upwards = (folder: string): readonly string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...upwards(dirname(folder))]

/** Variables that firmlake and the packages that it loads read. */
const OWN_VARIABLES = /^(FIRMLAKE_|PG|AWS_|OTEL_|TEMPORAL_|OPENLINEAGE_)/
/** Variables that decide which code runs and whom a connection trusts: never from a file, whatever names them. */
const NEVER =
  /^(NODE_|LD_|DYLD_|SSL_|OPENSSL_|GCONV_PATH$|(HTTP|HTTPS|ALL|NO)_PROXY$|PATH$|BASH_ENV$|ENV$|SHELL$|HOME$|AWS_ALLOW_HTTP$)/i
/** A name as people give them. A line of a key that stands without quotes reads as one too, and is not shown. */
const SHOWABLE = /^([A-Z][A-Z0-9_]{0,63}|[a-z][a-z_]{0,63})$/
const MOST_SHOWN = 10

/** Names of variables that the file's own keys give, such as `token_env`. */
const namedVariables = ({ found }: ConfigFile): ReadonlySet<string> =>
  new Set(found.filter(({ key }) => key.endsWith('_env')).map(({ given }) => String(given)))

const excludedText = (path: string, left: readonly string[]): string => {
  const shown = left.filter((name) => SHOWABLE.test(name)).slice(0, MOST_SHOWN)
  const more = left.length - shown.length
  const others = more === 0 ? [] : [`${more} other${more === 1 ? '' : 's'}`]
  const names = [shown.join(', '), ...others].filter((one) => one !== '').join(' and ')
  const verb = left.length === 1 ? 'is' : 'are'
  return `"${path}" also has ${names}, which ${verb} not taken: expected FIRMLAKE_…, PG…, AWS_…, OTEL_…, TEMPORAL_…, OPENLINEAGE_…, or names that keys such as token_env give`
}

/** Only what the environment does not say itself; a variable that is set to nothing is none. */
const variablesBeside = async (
  file: ConfigFile,
  own: number | undefined,
  { env }: Finding,
): Promise<Pick<LoadedConfig, 'env' | 'notices'>> => {
  const path = join(dirname(file.path), ENV_NAME)
  const judged = await judge(path, own)
  if (judged === undefined) return { env: {}, notices: [] }
  if ('notice' in judged) return { env: {}, notices: [judged.notice] }
  const named = namedVariables(file)
  const isTaken = (name: string): boolean =>
    !NEVER.test(name) && (OWN_VARIABLES.test(name) || named.has(name))
  const given = Object.entries(parseEnv(judged.text.replaceAll(/\r\n?/g, '\n')))
  const left = given.map(([name]) => name).filter((name) => !isTaken(name))
  const entries = given.flatMap(([name, value]) =>
    value === undefined || env[name] || !isTaken(name) ? [] : [[name, value] as const],
  )
  return { env: Object.fromEntries(entries), notices: left.length === 0 ? [] : [excludedText(path, left)] }
}

/**
 * The file with what stands beside it. One that is named may be anybody's; one that is found, and `.env` in any case, counts only if
 * it and its folder belong to the user or to root and nobody else can write to them.
 *
 * @throws {ToolkitError} TEXT_NOT_UTF8; CONFIG_INVALID of a file that is no TOML, or that is named and not there
 */
export const findConfig = async (finding: Finding): Promise<LoadedConfig> => {
  const { named, cwd, uid = process.getuid?.() } = finding
  const paths =
    named === undefined ? upwards(resolve(cwd)).map((one) => join(one, FILE_NAME)) : [resolve(cwd, named)]
  const own = named === undefined ? uid : undefined
  const notices: string[] = []
  for (const path of paths) {
    const judged = await judge(path, own)
    if (judged === undefined) continue
    if ('notice' in judged) {
      notices.push(judged.notice)
      continue
    }
    // Only here: most working folders have no file above them.
    const { readSoundSettings } = await import('./read-settings.ts')
    const { file, fault } = readSoundSettings(judged.text, path, dirname(path))
    const beside = await variablesBeside(file, uid, finding)
    return { file, fault, env: beside.env, notices: [...notices, ...beside.notices] }
  }
  if (named === undefined) return { file: undefined, env: {}, notices }
  const reason = notices[0] ?? `"${named}" does not exist`
  throw new ToolkitError('CONFIG_INVALID', `Cannot use --config "${named}": ${reason}`, { path: named })
}
