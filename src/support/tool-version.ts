/** Name and version of the tool, as snapshots record it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_FOLDER } from './own-files.ts'

const { name, version } = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
}

export const VERSION: string = version
export const TOOL = `${name} ${version}`

const versionOf = (tool: string): readonly number[] =>
  (/ (\d+)\.(\d+)\.(\d+)/.exec(tool) ?? []).slice(1).map(Number)

/** Whether a tool is a later release than this one, by the version in its name. */
export const isLaterTool = (tool: string): boolean => {
  const own = versionOf(TOOL)
  const differing = versionOf(tool).findIndex((part, at) => part !== own[at])
  return differing >= 0 && Number(versionOf(tool)[differing]) > Number(own[differing])
}
