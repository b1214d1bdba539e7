/** The packages of Temporal: installed by those who use it, imported when it is asked for. */

import { ToolkitError } from '../../core/errors.ts'

/** As they were tested. */
export const TEMPORAL_VERSION = '1.24.0'
export const TEMPORAL_PACKAGES = ['activity', 'client', 'common', 'envconfig', 'worker', 'workflow'].map(
  (name) => `@temporalio/${name}`,
)

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') &&
  error.message.includes('@temporalio/')

const imported = async <T>(load: () => Promise<T>): Promise<T> => {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error)) throw error
    const names = TEMPORAL_PACKAGES.map((name) => `${name}@${TEMPORAL_VERSION}`).join(' ')
    throw new ToolkitError(
      'ENGINE_MISSING',
      `Cannot use Temporal: its packages are not installed, "npm install ${names}" installs them`,
      {},
      error,
    )
  }
}

/** @throws {ToolkitError} ENGINE_MISSING */
export const clientPart = () => imported(() => import('./client.ts'))

/** @throws {ToolkitError} ENGINE_MISSING */
export const workerPart = () => imported(() => import('./worker.ts'))
