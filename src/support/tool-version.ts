/** Name and version of the tool, as snapshots record it. */

import { readFileSync } from 'node:fs'

const { name, version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as {
  readonly name: string
  readonly version: string
}

export const VERSION: string = version
export const TOOL = `${name} ${version}`
