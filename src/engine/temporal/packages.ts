/** The parts that import the packages of Temporal, loaded when it is asked for. */

import { requirePart } from '../../core/optional-parts.ts'

/** @throws {ToolkitError} PACKAGE_MISSING */
export const clientPart = () => {
  requirePart('temporal')
  return import('./client.ts')
}

/** @throws {ToolkitError} PACKAGE_MISSING */
export const workerPart = () => {
  requirePart('temporal')
  return import('./worker.ts')
}
