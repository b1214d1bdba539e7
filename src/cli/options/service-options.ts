/** The service that a command means. The token is never one of its options. */

import { ToolkitError } from '../../core/errors.ts'
import type { CalledService } from '../../options/service.ts'
import type { Service } from '../../source/service/service.ts'
import { note } from '../output/print.ts'

/** The address from the option or the environment. @throws {ToolkitError} USAGE */
const serviceUrl = ({ url }: Pick<CalledService, 'url'>): string => {
  const found = url ?? process.env.FIRMLAKE_URL
  if (found !== undefined && found !== '') return found
  throw new ToolkitError('USAGE', 'Cannot call the service: no address, give --url or set FIRMLAKE_URL')
}

/**
 * The service that the options and the environment name. The caller closes it.
 *
 * @throws {ToolkitError} USAGE, TOKEN_MISSING, TOKEN_INVALID, ADDRESS_REFUSED
 */
export const serviceOf = async (options: CalledService): Promise<Service> => {
  const url = serviceUrl(options)
  const { createService } = await import('../../source/service/service.ts')
  const { readToken } = await import('../../source/service/token.ts')
  const { maxRequestsPerSecond, maxWaitMs, concurrency, trustClock } = options
  return createService({
    url,
    token: await readToken({ env: process.env.FIRMLAKE_TOKEN, file: options.tokenFile }),
    // A request is in the air while the page before goes to the disk.
    ...{ maxRequestsPerSecond, maxWaitMs, concurrency, trustClock },
    onWarning: (text) => note(`warning: ${text}`),
  })
}

/** Uses the service that the options and the environment name, and closes it. @throws {ToolkitError} as `serviceOf` */
export const withService = async <T>(
  options: CalledService,
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
export const plannedService = async (options: CalledService, planned: string): Promise<Service> => {
  const { checkPlanOrigin } = await import('../../source/service/address.ts')
  checkPlanOrigin(options.url ?? process.env.FIRMLAKE_URL, planned)
  return serviceOf({ ...options, url: planned })
}
