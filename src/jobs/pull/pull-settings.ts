/** What a person asks for in a pull, and what is checked of it before there is a run. */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { PullJob } from '../../run/run-plan.ts'
import type { Service } from '../../source/service/service.ts'
import { checkParameterName, checkSearch, type LiveParameter } from './search.ts'
import { isDay } from './window-axes.ts'

/** What pulling needs of a service. */
export type PullService = Pick<Service, 'origin' | 'page' | 'totalCount' | 'parameters'>

/** As JSON: a run with equal settings is resumed. */
export type PullSettings = Omit<PullJob, 'kind' | 'url'>

/**
 * Checks settings against the live parameters. @returns those
 *
 * @throws {ToolkitError} SEARCH_MISSING, PARAMETER_REFUSED, VALUES_REFUSED, USAGE, and what the service throws
 */
export const checkSettings = async (
  service: Pick<PullService, 'parameters'>,
  { content, search, by, since, until }: Omit<PullSettings, 'pageSize' | 'cap'>,
  signal?: AbortSignal,
): Promise<readonly LiveParameter[]> => {
  checkDay('--since', since === 'last' ? undefined : since)
  checkDay('--until', until)
  if (since !== undefined && until !== undefined && since !== 'last' && since > until)
    throw new ToolkitError(
      'USAGE',
      `Cannot search from --since ${since} to --until ${until}: --since is after --until`,
    )
  const parameters = await service.parameters(content, signal && { signal })
  checkSearch(content, search, parameters)
  if (by !== undefined) checkParameterName(content, by, parameters)
  return parameters
}

const checkDay = (option: string, day: string | undefined): void => {
  if (day === undefined || isDay(day)) return
  throw new ToolkitError('USAGE', `Cannot read ${option} "${day}": expected a day such as 2026-01-31`)
}

/** The service with its listings asked for once. */
export const rememberParameters = (service: Service): Service => {
  const known = new Map<Content, ReturnType<Service['parameters']>>()
  return {
    ...service,
    parameters: (content, options) => {
      const found = known.get(content) ?? service.parameters(content, options)
      known.set(content, found)
      return found
    },
  }
}
