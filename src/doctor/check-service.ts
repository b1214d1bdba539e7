/** The service: whether there is an address and a token for it, and whether it answers to them as the interface says. */

import { parameterNames } from '../contract/listings.ts'
import type { Content } from '../contract/objects.ts'
import { ToolkitError } from '../core/errors.ts'
import { parseAddress } from '../source/service/address.ts'
import { createService, type Service } from '../source/service/service.ts'
import { readToken } from '../source/service/token.ts'
import { asFinding, type MachineFinding, withinTime } from './finding.ts'

/** The parts of the service that a configuration uses. */
export type ServiceUse = 'companies' | 'relations' | 'batchFiles'

/** The service that is looked at. */
export interface DoctorService {
  readonly url: string
  readonly tokenFile?: string | undefined
  /** Name of the variable that holds the token. */
  readonly tokenVariable: string
  readonly uses: readonly ServiceUse[]
  readonly trustClock?: boolean | undefined
}

const tokenOf = ({ tokenFile, tokenVariable }: DoctorService, env: NodeJS.ProcessEnv): Promise<string> => {
  if (tokenFile !== undefined || env[tokenVariable])
    return readToken({ env: env[tokenVariable], file: tokenFile })
  throw new ToolkitError(
    'TOKEN_MISSING',
    `Cannot call the service: the variable "${tokenVariable}" is not set`,
  )
}

/** Address and token as they stand here; asks nothing of the service. */
export const checkCredentials = (asked: DoctorService, env: NodeJS.ProcessEnv): Promise<MachineFinding> =>
  asFinding('service', async () => {
    const { origin } = parseAddress(asked.url)
    await tokenOf(asked, env)
    return `"${origin}", with a token`
  })

/** A listing that has nothing of the interface's comes from something else. */
const knownParameters = async (service: Service, content: Content, signal: AbortSignal): Promise<number> => {
  const known = new Set(parameterNames(content).map((name) => name.toLowerCase()))
  const listed = await service.parameters(content, { signal })
  if (listed.some(({ name }) => known.has(name.toLowerCase()))) return listed.length
  throw new ToolkitError(
    'ANSWER_INVALID',
    `Cannot use the service: its search parameters of ${content} have none that the interface names, is the address right?`,
  )
}

/** The cheapest search that every account may do: it names no country. */
const EVERYWHERE = { OperationalStatus: [1] }

const USES: Readonly<Record<ServiceUse, (service: Service, signal: AbortSignal) => Promise<string>>> = {
  companies: async (service, signal) => {
    const parameters = await knownParameters(service, 'companies', signal)
    const { totalCount } = await service.totalCount('companies', EVERYWHERE, { signal })
    return `searches of companies are answered: ${parameters} parameters, ${totalCount} active companies`
  },
  relations: async (service, signal) =>
    `searches of relations are open: ${await knownParameters(service, 'relations', signal)} parameters`,
  batchFiles: async (service, signal) =>
    `batch files are listed: ${(await service.batchFiles({ signal })).length}`,
}

/** Asks the service for what is used of it. @param limitMs of each answer */
export const askService = async (
  asked: DoctorService,
  env: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<readonly MachineFinding[]> => {
  // Two attempts, and then what went wrong with them: that says more than that the time is over.
  const attemptMs = limitMs * 0.4
  const service = createService({
    ...{ url: asked.url, trustClock: asked.trustClock },
    token: await tokenOf(asked, env),
    maxWaitMs: attemptMs,
    ...{ connectTimeoutMs: attemptMs, headersTimeoutMs: attemptMs, bodyTimeoutMs: attemptMs },
  })
  try {
    const findings: MachineFinding[] = []
    for (const use of asked.uses)
      findings.push(await withinTime('service', limitMs, (signal) => USES[use](service, signal)))
    return findings
  } finally {
    await service.close()
  }
}
