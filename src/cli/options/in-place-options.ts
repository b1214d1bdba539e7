/** How commands read a lake in a bucket that need parts of it. */

import { Option } from 'commander'

export interface CheckedFlag {
  readonly checked?: true
}

export const checkedOption = (): Option =>
  new Option('--checked', 'of a bucket: read copies compared with their hashes, not in place')
