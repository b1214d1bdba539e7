/** Options of `check`. */

import { HELD, JSON_FORMAT, LAKE, MEMORY, NOW, THREADS } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import { EXPECTATIONS } from './expectations.ts'
import { choiceOf, folderOfRules, trueOrFalse } from './value-types.ts'

export const CHECK_LAKE = {
  lake: LAKE,
  held: option(HELD.type, HELD.about, { otherwise: 'the newest', doc: HELD.doc }),
  ...EXPECTATIONS,
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
