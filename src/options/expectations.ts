/** Options of what is expected of the loads of a lake: of `check`, `report` and the night. */

import { type OptionTable, option } from './entry.ts'
import { duration, share, trueOrFalse, whole } from './value-types.ts'

export const EXPECTATIONS = {
  maxAgeMs: option(duration('<span>'), 'longest time since the newest load began: 90m, 26h, 7d', {
    ...{ section: 'check', flag: '--max-age', key: 'max_age' },
    doc: 'Age of the newest load, in milliseconds.',
  }),
  maxUnlookedMs: option(
    duration('<span>'),
    'longest time since pulls or syncs last looked for companies that left: 8d',
    {
      flag: '--max-unlooked',
      doc: 'Time since a pull or sync of a whole search last looked for companies that left the service, in milliseconds.',
    },
  ),
  maxFall: option(share, 'how much fewer records than the whole pull or sync before the newest may find', {
    section: 'check',
    doc: 'Share by which fewer records the newest whole pull or sync of a search may find than the one before.',
  }),
  maxRestated: option(
    share,
    "largest share of the lake's companies whose figures the newest load may restate",
    {
      section: 'check',
      doc: "Companies whose figures the newest load restates, as a share of the lake's companies.",
    },
  ),
  maxQuarantined: option(share, 'largest share of bad lines in the newest load', {
    section: 'check',
    doc: 'Lines of the newest load that were quarantined, as a share.',
  }),
  maxGap: option(whole(0), 'most records that the newest pull of a search missed', {
    section: 'check',
    doc: 'Records that the newest pull of each search could not find.',
  }),
  minCompanies: option(whole(), 'least number of current companies', {
    section: 'check',
    doc: 'Companies that are current, at least.',
  }),
  noNewDrift: option(trueOrFalse, 'fail on names that are unknown and that no earlier load had', {
    doc: 'Whether names that the contract does not know fail where no earlier load had them.',
  }),
} as const satisfies OptionTable
