/** How commands read a lake in a bucket that need parts of it. */

import { type Command, Option } from 'commander'

/** As the jobs take them. */
export interface InPlaceFlags {
  readonly checked?: true
  readonly httpfs?: string
  readonly installExtensions?: true
}

export const addInPlaceOptions = (command: Command): Command =>
  command
    .addOption(new Option('--checked', 'of a bucket: read copies compared with their hashes, not in place'))
    .addOption(
      new Option(
        '--httpfs <file>',
        `file of DuckDB's httpfs, to read a bucket in place (or FIRMLAKE_HTTPFS; default: in DuckDB's folder)`,
      ),
    )
    .addOption(
      new Option('--install-extensions', 'let DuckDB download httpfs into its folder where it is missing'),
    )
