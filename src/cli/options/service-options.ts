/**
 * Options of the commands that call the service, and the service they mean; options that choose among its batch files. The
 * token is never one of them.
 */

import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { BatchSelection } from '../../jobs/batch-files/choose-batch-files.ts'
import { DEFAULT_MAX_WAIT } from '../../options/engine.ts'
import type { Service } from '../../source/service/service.ts'
import { note } from '../output/print.ts'
import { durationOf, wholeNumber } from './options.ts'

export interface ServiceCommandOptions {
  readonly url?: string
  readonly tokenFile?: string
  readonly maxRequestsPerSecond?: number
  /** Milliseconds. */
  readonly maxWait: number
  readonly concurrency: number
  readonly trustClock?: true
}

const DEFAULT_CONCURRENCY = 4

/** Where nothing is said: the address and the token of the environment. */
export const DEFAULT_SERVICE: ServiceCommandOptions = {
  maxWait: durationOf('--max-wait')(DEFAULT_MAX_WAIT),
  concurrency: DEFAULT_CONCURRENCY,
}

const rate = (text: string): number => {
  const number = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
  if (number > 0) return number
  throw new ToolkitError(
    'USAGE',
    `Cannot read --max-requests-per-second "${text}": expected a number above 0`,
  )
}

/** Where the service is, and the token for it. */
export const addressOptions = (): Option[] => [
  new Option('--url <url>', 'address of the service (or FIRMLAKE_URL)'),
  new Option('--token-file <file>', 'file that holds the token (or FIRMLAKE_TOKEN)'),
  new Option(
    '--trust-clock',
    'take the dates of the service as they are: the clock of this machine is wrong',
  ),
]

/** @param atOnce what `--concurrency` counts */
export const serviceOptions = (atOnce: string): Option[] => [
  ...addressOptions(),
  new Option('--concurrency <n>', atOnce)
    .argParser(wholeNumber('--concurrency'))
    .default(DEFAULT_CONCURRENCY),
  new Option(
    '--max-requests-per-second <n>',
    'most requests in a second, all together (default: learnt from the answers)',
  ).argParser(rate),
  new Option('--max-wait <time>', 'longest wait for a busy service; beyond it the command ends with 75')
    .argParser(durationOf('--max-wait'))
    .default(DEFAULT_SERVICE.maxWait, DEFAULT_MAX_WAIT),
]

/** The address from the option or the environment. @throws {ToolkitError} USAGE */
const serviceUrl = ({ url }: Pick<ServiceCommandOptions, 'url'>): string => {
  const found = url ?? process.env.FIRMLAKE_URL
  if (found !== undefined && found !== '') return found
  throw new ToolkitError('USAGE', 'Cannot call the service: no address, give --url or set FIRMLAKE_URL')
}

/**
 * The service that the options and the environment name. The caller closes it.
 *
 * @throws {ToolkitError} USAGE, TOKEN_MISSING, TOKEN_INVALID, ADDRESS_REFUSED
 */
export const serviceOf = async (options: ServiceCommandOptions): Promise<Service> => {
  const url = serviceUrl(options)
  const { createService } = await import('../../source/service/service.ts')
  const { readToken } = await import('../../source/service/token.ts')
  const { maxRequestsPerSecond, maxWait, concurrency, trustClock } = options
  return createService({
    url,
    token: await readToken({ env: process.env.FIRMLAKE_TOKEN, file: options.tokenFile }),
    maxWaitMs: maxWait,
    // A request is in the air while the page before goes to the disk.
    ...{ concurrency, trustClock },
    onWarning: (text) => note(`warning: ${text}`),
    ...(maxRequestsPerSecond !== undefined && { maxRequestsPerSecond }),
  })
}

/** Uses the service that the options and the environment name, and closes it. @throws {ToolkitError} as `serviceOf` */
export const withService = async <T>(
  options: ServiceCommandOptions,
  use: (service: Service) => Promise<T>,
): Promise<T> => {
  const service = await serviceOf(options)
  try {
    return await use(service)
  } finally {
    await service.close()
  }
}

/**
 * The service that the plan of a run names, where it is of the origin that the options or the environment name.
 *
 * @throws {ToolkitError} PLAN_ORIGIN, and as `serviceOf`
 */
export const plannedService = async (options: ServiceCommandOptions, planned: string): Promise<Service> => {
  const { checkPlanOrigin } = await import('../../source/service/address.ts')
  checkPlanOrigin(options.url ?? process.env.FIRMLAKE_URL, planned)
  return serviceOf({ ...options, url: planned })
}

export interface BatchFilter {
  readonly content?: 'companies' | 'relations'
  readonly country?: readonly string[]
}

const countryCodes = (text: string): readonly string[] => {
  const codes = text.split(',').map((code) => code.trim().toUpperCase())
  if (codes.every((code) => /^[A-Z]{2}$/.test(code))) return codes
  throw new ToolkitError('USAGE', `Cannot read --country "${text}": expected codes such as SE,NO`)
}

export const batchFilterOptions = (): Option[] => [
  new Option('--content <content>', 'files of one content only').choices(['companies', 'relations']),
  new Option('--country <codes>', 'files of these countries only, such as SE,NO').argParser(countryCodes),
]

/** The chosen files: ids, or all files that a filter lets through. */
export const selectionOf = (ids: readonly string[], { content, country }: BatchFilter): BatchSelection =>
  ids.length > 0
    ? { kind: 'ids', ids }
    : { kind: 'all', ...(content && { content }), ...(country && { countries: country }) }
