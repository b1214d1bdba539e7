/** The text of a first `firmlake.toml`: few keys, and of each in a comment what it is for. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { formatCount, formatCounted } from '../support/format.ts'

/** The search that a first file has. */
export const FIRST_SEARCH = { CountryCode: ['SE'] }

/** Companies of the search, and how many the service gives with one request. */
interface CountedSearch {
  readonly companies: number
  readonly pageSize: number
}

export interface FirstSettings {
  /** Folder of the lake, relative to the file, or a bucket. */
  readonly lake: string
  /** Address of the service. */
  readonly service?: string | undefined
  /** Absent where the service could not be asked. */
  readonly counted?: CountedSearch | undefined
  /** Folder of batch files, relative to the file. */
  readonly files?: string | undefined
}

/** JSON's text of a string is one of TOML too. */
const quoted = (text: string): string => JSON.stringify(text)

const SEARCH = `search = { CountryCode = ${JSON.stringify(FIRST_SEARCH.CountryCode)} }`
const CHANGE_IT = '# change it: "firmlake plan companies --parameters" lists what can be searched for'

/**
 * Requests of a week of quiet nights. A pull counts, then asks for a page of changes, and once a week for all; a sync counts, then
 * lists all.
 */
const weekOf = ({ companies, pageSize }: CountedSearch) => {
  const pages = Math.max(1, Math.ceil(companies / pageSize))
  return { pull: 6 * 2 + 1 + pages, sync: 7 * (1 + pages) }
}

/** The load that notices companies that left with the fewest requests. Where both ask for as much, a sync notices them each night. */
const companyLines = (search: CountedSearch | undefined): readonly string[] => {
  const counted = search && {
    ...weekOf(search),
    companies: formatCounted(search.companies, 'company', 'companies'),
  }
  if (counted && counted.sync <= counted.pull)
    return [
      '[[sync]] # a search that a night compares with the lake: new and changed companies come, and those that left are noticed',
      `# Of ${counted.companies} it asks ${formatCount(counted.sync)} requests a week, no more than a pull, and notices each night which left.`,
      'name = "companies" # how results name it',
      `${SEARCH} ${CHANGE_IT}`,
    ]
  const why = counted
    ? `Of ${counted.companies} that asks ${formatCount(counted.pull)} requests a week, a [[sync]] each night ${formatCount(counted.sync)}.`
    : 'Of many companies that asks the service for less than a [[sync]] each night.'
  return [
    '[[pull]] # a search that a night pulls: at first all of it, later what has changed',
    'name = "companies" # how results name it',
    'content = "companies" # registration data and figures',
    `${SEARCH} ${CHANGE_IT}`,
    'whole = "sunday" # and all of it on this day (UTC): changes do not tell which companies left the service',
    `# ${why}`,
  ]
}

const serviceLines = (url: string, counted: CountedSearch | undefined): readonly string[] => [
  '',
  '[service]',
  `url = ${quoted(url)} # address of the service`,
  'token_env = "FIRMLAKE_TOKEN" # variable that holds the token: of the environment, or of a file .env beside this one',
  '',
  ...companyLines(counted),
  '',
  '[[pull]]',
  'name = "relations"',
  'content = "relations" # owners and roles',
  SEARCH,
]

const filesLines = (from: string): readonly string[] => [
  '',
  '[[files]] # files that a night loads, where the lake does not hold them yet',
  'name = "batches" # how results name them',
  `from = [${quoted(from)}] # files, folders, or patterns such as "batches/*.br"`,
]

/** @returns the text, which ends with a line break */
export const firstSettings = ({ lake, service, counted, files }: FirstSettings): string =>
  [
    '# Settings of firmlake. All keys: docs/reference/configuration.md. What counts: firmlake config show',
    `lake = ${quoted(lake)} # folder of the lake, relative to this file, or ${BUCKET_FORM}`,
    ...(service === undefined ? [] : serviceLines(service, counted)),
    ...(files === undefined ? [] : filesLines(files)),
    '',
    '[check] # what a night expects of the lake; where it does not hold, the night ends with 5',
    'before = "commit" # it looks before anybody sees the load: one that makes a check fail waits for "release" or "discard"',
    'max_age = "26h" # the newest load is no older than this',
    '',
  ].join('\n')
