/** Options of `check`. */

import { HELD_BACK, JSON_FORMAT, LAKE, MEMORY, NOW, THREADS } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import { EXPECTATIONS } from './expectations.ts'
import { choiceOf, countsByName, folderOfRules, manyOf, plainText, trueOrFalse } from './value-types.ts'

/** The rules that are checked, and how much each may find. */
export const RULES = {
  data: withDefault(
    trueOrFalse,
    'check the rules on the data',
    { value: true, text: 'true' },
    {
      ...{ section: 'check', no: 'leave out the rules on the data' },
      doc: 'Whether the rules on the data are checked, too.',
    },
  ),
  rules: option(
    folderOfRules,
    'rules of your own: each .sql file a SELECT whose rows are findings; one with the name of ours takes its place',
    {
      section: 'check',
      doc: "Rules of one's own by name: each a SELECT, every row of which is a finding; rows whose column `severity` is `note` fail nothing. One with the name of ours takes its place. @default none",
    },
  ),
  only: option(manyOf(plainText('<rule>')), 'only these rules (repeatable)', {
    ...{ section: 'check', otherwise: 'all' },
    doc: 'Only these rules, of ours and of your own. @default all',
  }),
  skip: option(manyOf(plainText('<rule>')), 'all rules but these (repeatable)', {
    ...{ section: 'check', otherwise: 'none' },
    doc: 'Leaves these rules out. @default none',
  }),
  limits: option(countsByName, 'how many findings of a rule pass, by its name', {
    ...{ section: 'check', only: 'calls', otherwise: 'none' },
    doc: 'How many findings of a rule pass, by its name. @default none',
  }),
} as const satisfies OptionTable

export const CHECK_LAKE = {
  lake: LAKE,
  held: option(HELD_BACK.type, HELD_BACK.about, { otherwise: 'the newest', doc: HELD_BACK.doc }),
  ...EXPECTATIONS,
  ...RULES,
  since: option(
    plainText('<time>'),
    'only findings that are new since then: a span (24h, 7d) or a day (UTC)',
    {
      conflicts: 'held',
      doc: 'Counts only findings that the lake did not have then: a span such as `24h` or `7d`, or a day such as `2026-11-21` (its beginning, in UTC).',
    },
  ),
  format: withDefault(
    choiceOf('<format>', 'table', 'json', 'junit', 'prometheus'),
    'how the answer is printed',
    'table',
    { only: 'commands' },
  ),
  memoryBytes: MEMORY,
  threads: THREADS,
  json: JSON_FORMAT,
  now: NOW,
} as const satisfies OptionTable
