/** The text of a first `firmlake.toml`: few keys, and of each in a comment what it is for. */

import { BUCKET_FORM } from '../core/lake-address.ts'

export interface FirstSettings {
  /** Folder of the lake, relative to the file, or a bucket. */
  readonly lake: string
  /** Address of the service. */
  readonly service?: string | undefined
  /** Folder of batch files, relative to the file. */
  readonly files?: string | undefined
}

/** JSON's text of a string is one of TOML too. */
const quoted = (text: string): string => JSON.stringify(text)

const serviceLines = (url: string): readonly string[] => [
  '',
  '[service]',
  `url = ${quoted(url)} # address of the service`,
  'token_env = "FIRMLAKE_TOKEN" # variable that holds the token: of the environment, or of a file .env beside this one',
  '',
  '[[pull]] # a search that a night pulls: at first all of it, later what has changed',
  'name = "companies" # how results name it',
  'content = "companies" # registration data and figures',
  'search = { CountryCode = ["SE"] } # change it: "firmlake parameters companies" lists what can be searched for',
  '',
  '[[pull]]',
  'name = "relations"',
  'content = "relations" # owners and roles',
  'search = { CountryCode = ["SE"] }',
]

const filesLines = (from: string): readonly string[] => [
  '',
  '[[files]] # files that a night loads, where the lake does not hold them yet',
  'name = "batches" # how results name them',
  `from = [${quoted(from)}] # files, folders, or patterns such as "batches/*.br"`,
]

/** @returns the text, which ends with a line break */
export const firstSettings = ({ lake, service, files }: FirstSettings): string =>
  [
    '# Settings of firmlake. All keys: docs/reference/configuration.md. What counts: firmlake config show',
    `lake = ${quoted(lake)} # folder of the lake, relative to this file, or ${BUCKET_FORM}`,
    ...(service === undefined ? [] : serviceLines(service)),
    ...(files === undefined ? [] : filesLines(files)),
    '',
    '[check] # what a night expects of the lake; where it does not hold, the night ends with 5',
    'before = "commit" # it looks before anybody sees the load: one that makes a check fail waits for "release" or "discard"',
    'max_age = "26h" # the newest load is no older than this',
    '',
  ].join('\n')
