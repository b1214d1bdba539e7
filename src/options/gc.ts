/** Options of `gc`. */

import { JSON_OUTPUT, LAKE, signalThat, YES } from './common.ts'
import { type OptionTable, option } from './entry.ts'
import { anObject, callback, trueOrFalse, whole } from './value-types.ts'

export const GC = {
  lake: LAKE,
  keep: option(whole(), 'newest snapshots to keep', {
    ...{ section: 'gc', otherwise: 'all', fileAbout: 'newest snapshots to keep, at least' },
    doc: 'Newest snapshots to keep; older ones, and what only they list, are removed.',
  }),
  keepDays: option(
    whole(),
    'days back from now as of which the lake can still be read; with --keep at least so many snapshots stay',
    {
      section: 'gc',
      fileAbout: 'days back from now as of which the lake can still be read',
      doc: 'Days back from now as of which the lake can still be read: older snapshots, and what only they list, are removed. With `keep` at least so many are kept. @default all',
    },
  ),
  now: option(callback<() => Date>('() => Date'), 'says how old files and runs are', {
    only: 'calls',
    otherwise: 'the clock',
  }),
  dryRun: option(trueOrFalse, 'change nothing, report what would be removed'),
  catalog: option(anObject('CatalogOptions'), 'a catalog that shows the Iceberg tables of the lake', {
    only: 'calls',
    doc: "A catalog that shows the lake's Iceberg tables; without it they may lose their files.",
    otherwise: 'none',
  }),
  signal: signalThat('Stops it before anything is removed.'),
  onPublish: option(
    callback('(progress: PublishProgress) => void'),
    'progress of updating published tables, before anything is removed',
    { only: 'calls' },
  ),
  onRemove: option(callback<() => void>('() => void'), 'called when removing starts', {
    only: 'calls',
    doc: 'Called when removing starts; it is not interrupted any more.',
  }),
  yes: YES,
  json: JSON_OUTPUT,
} as const satisfies OptionTable
