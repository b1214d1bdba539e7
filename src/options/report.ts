/** Options of `report`. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { HELD_BACK, JSON_OUTPUT, LAKE, MEMORY, NOW, SNAPSHOT, signalThat, THREADS } from './common.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { EXPECTATIONS } from './expectations.ts'
import { OPEN_QUERY, UNCHECKED } from './query.ts'
import { callback, formedText, manyOf, path, plainText } from './value-types.ts'

const language = formedText('<tag>', 'a language such as en, sv or de-CH', (text) => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(text).length === 1
  } catch {
    // No language tag.
    return false
  }
})

const webAddress = formedText(
  '<url>',
  'an address such as https://lake.example.com/',
  (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
)

export const REPORT = {
  lake: LAKE,
  to: needed(
    { ...path(), expectedOfCall: 'a file that ends in .html' },
    `the HTML file, or ${BUCKET_FORM}/report.html; it ends in .html, and one that is there is replaced`,
    {
      doc: `The file, or \`${BUCKET_FORM}/report.html\`, which ends in \`.html\`; one that is there is replaced.`,
    },
  ),
  lineItems: option(manyOf(plainText('<name>')), 'a line item with a heat map of its own (repeatable)', {
    ...{ section: 'report', flag: '--line-item', otherwise: 'NetSales, EBITDA' },
    fileAbout: 'line items with a heat map of their own',
    doc: 'Line items with a heat map of their own.',
  }),
  title: withDefault(plainText(), 'the heading of the page', 'Company data', { section: 'report' }),
  logoText: withDefault(plainText(), 'the name at the top of the page', 'firmlake', { section: 'report' }),
  language: withDefault(language, 'language of the numbers: en, sv, de-CH', 'en', {
    section: 'report',
    doc: 'Language of the numbers, as of BCP 47, such as `sv` or `de-CH`.',
  }),
  explorer: option(webAddress, 'address of an explorer that names of companies link to', {
    section: 'report',
    doc: 'Address of an explorer: names of companies link to their pages there. @default none; they link to a table of the report',
  }),
  ...EXPECTATIONS,
  snapshot: SNAPSHOT,
  held: HELD_BACK,
  memoryBytes: MEMORY,
  threads: THREADS,
  unchecked: UNCHECKED,
  json: option(JSON_OUTPUT.type, 'the result as one line of JSON, errors too', { only: 'commands' }),
  check: OPEN_QUERY.check,
  aroundFetch: OPEN_QUERY.aroundFetch,
  signal: signalThat('Stops it: an earlier report stays.'),
  onProgress: option(callback('(progress: ReportProgress) => void'), 'the part that begins now', {
    only: 'calls',
  }),
  now: NOW,
} as const satisfies OptionTable
