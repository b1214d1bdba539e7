/** Staging for rows that a sink has not loaded yet. */

import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { temporaryName } from '../support/process-identity.ts'

/**
 * A folder of this machine for this process, to be given to sinks that load databases. Nothing is made; whoever uses it
 * removes it. What a killed process leaves there, `gc` removes.
 */
export const stagingFolder = (lake: string): string => inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
