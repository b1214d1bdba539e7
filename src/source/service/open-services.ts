/** The services that a run calls: each opened when it is called first, and all of them closed when the run ends. */

import type { ServiceOptions } from '../../options/interfaces.ts'
import type { Service, ServiceCounters } from './service.ts'

interface OpenServices {
  readonly open: (url: string) => Promise<Service>
  /** The requests to the first one; `undefined` where none was called. */
  readonly counters: () => Promise<ServiceCounters | undefined>
  readonly close: () => Promise<void>
}

export const openServices = (create: (url: string) => Service | Promise<Service>): OpenServices => {
  const called = new Map<string, Promise<Service>>()
  const opened = async (): Promise<readonly Service[]> =>
    (await Promise.allSettled(called.values())).flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    )
  return {
    open: async (url) => {
      const service = called.get(url) ?? Promise.resolve(create(url))
      called.set(url, service)
      return service
    },
    counters: async () => (await opened())[0]?.counters(),
    close: async () => {
      for (const service of await opened()) await service.close()
    },
  }
}

/** The service that a plan names, with the token of the environment. @throws {ToolkitError} PLAN_ORIGIN, USAGE, TOKEN_MISSING */
export const serviceOfEnvironment = async (
  url: string,
  options: Partial<Pick<ServiceOptions, 'concurrency' | 'maxRequestsPerSecond'>>,
): Promise<Service> => {
  const { createService } = await import('./service.ts')
  const { readToken } = await import('./token.ts')
  const { checkPlanOrigin } = await import('./address.ts')
  checkPlanOrigin(process.env.FIRMLAKE_URL, url)
  return createService({ url, token: await readToken({ env: process.env.FIRMLAKE_TOKEN }), ...options })
}
