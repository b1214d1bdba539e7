/**
 * This program's package: its version, and where its own files are. In a checkout they are below `src/`, in the package below
 * `dist/`; the build joins modules, so no module knows its own place.
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Whether the sources run as they are. */
export const IS_CHECKOUT = import.meta.url.endsWith('.ts')

const packageAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : packageAbove(dirname(folder))

/** The folder of `package.json`. */
export const PACKAGE_FOLDER = packageAbove(import.meta.dirname)

/** A file or folder below `src/` or `dist/`, by its path there. */
export const ownFile = (path: string): string => join(PACKAGE_FOLDER, IS_CHECKOUT ? 'src' : 'dist', path)

/** Code that a thread or a process begins with, by its path there without its ending. */
export const ownCode = (path: string): URL => pathToFileURL(ownFile(`${path}${IS_CHECKOUT ? '.ts' : '.js'}`))

const { name, version, engines } = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly engines: { readonly node: string }
}

/** The range of releases of Node that firmlake is for. */
export const ENGINES = engines.node

export const VERSION: string = version
/** Name and version, as snapshots record them. */
export const TOOL = `${name} ${version}`

type Version = readonly [major: number, minor: number, patch: number]

/** A release before its final one counts as none: it may lack what the range was named for. */
const versionOf = (text: string): Version | undefined => {
  const [whole, major, minor = 0, patch = 0] = /^(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(text) ?? []
  return whole === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

const compare = (one: Version, other: Version): number =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2]

/** Whether a tool is a later release than this one, by the version in its name. */
export const isLaterTool = (tool: string): boolean => {
  const [other, own] = [tool, TOOL].map((name) => versionOf(/ (\d+\.\d+\.\d+)/.exec(name)?.[1] ?? ''))
  return other !== undefined && own !== undefined && compare(other, own) > 0
}

/** The first version that `^` leaves out: the leftmost part that is not 0 stays as it is. */
const nextAfter = ([major, minor, patch]: Version): Version => {
  if (major > 0) return [major + 1, 0, 0]
  return minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1]
}

const holds = (version: Version, part: string): boolean => {
  const [, sign = '', text = ''] = /^(\^|>=|<)(.+)$/.exec(part) ?? []
  const named = versionOf(text)
  if (named === undefined)
    throw new RangeError(`Cannot read the range "${part}": expected ^, >= or < and a version`)
  if (sign === '<') return compare(version, named) < 0
  return compare(version, named) >= 0 && (sign === '>=' || compare(version, nextAfter(named)) < 0)
}

/**
 * Whether a version fits to a range of a package.json: `^1.2.3`, `>=1.2`, `<2`, or several of these, all of which must hold;
 * `||` stands between ranges of which one must.
 *
 * @throws {RangeError} for a range of another form
 */
export const isInRange = (version: string, range: string): boolean => {
  const found = versionOf(version)
  const parts = range.split(' || ').map((each) => each.split(' '))
  return found !== undefined && parts.some((each) => each.every((part) => holds(found, part)))
}
