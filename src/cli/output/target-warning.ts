/** What is said of an address given as an argument. */

import { note } from './print.ts'

/** Whether an address of a database holds a password: before its host, or as a parameter. */
export const holdsPassword = (address: string): boolean =>
  /^postgres(?:ql)?:\/\/(?:[^/?#@]*:[^@]+@|.*[?&]password=[^&])/is.test(address)

/** Arguments are seen by others: in the list of processes, in the shell's history, in logs of CI. */
export const warnOfPassword = (addresses: readonly string[]): void => {
  if (addresses.some(holdsPassword))
    note(
      'warning: the address of the database holds a password, which the list of processes shows to others; ' +
        'leave it out and set PGPASSWORD instead',
    )
}
