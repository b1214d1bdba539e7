/** The warning about a password in an address that is given as an argument. */

import { passwordVariable } from '../../sink/targets.ts'
import { note } from './print.ts'

/** Arguments are seen by others: in the list of processes, in the shell's history, in logs of CI. */
export const warnOfPassword = (addresses: readonly string[]): void => {
  const [variable] = addresses.flatMap((address) => passwordVariable(address) ?? [])
  if (variable !== undefined)
    note(
      'warning: the address of the database holds a password, which the list of processes shows to others; ' +
        `leave it out and set ${variable} instead`,
    )
}
