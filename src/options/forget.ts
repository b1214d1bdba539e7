/** Options of `forget`. */

import { DRY_RUN, JSON_OUTPUT, LAKE, LOCAL_BYTES, MEMORY, signalThat, THREADS, YES } from './common.ts'
import { type OptionTable, option } from './entry.ts'
import { anObject, ids, manyOf, path, plainText, trueOrFalse } from './value-types.ts'

/** Messages of a command do not show ids of persons. */
const ID = { ...ids, hidden: true } as const

export const FORGET = {
  lake: LAKE,
  companies: option(ID, 'InternalId of a company, may be repeated', {
    flag: '--company',
    doc: "InternalIds of companies: their records go, and they as entities of others' relations. @default none",
  }),
  persons: option(ID, 'InternalId of a person, may be repeated', {
    flag: '--person',
    doc: 'InternalIds of persons, who go as entities of all relations. @default none',
  }),
  nationalIds: option(
    manyOf(plainText()),
    'OrgNo or NationalIdentificationNumber of companies and persons that the lake knows',
    { only: 'calls', otherwise: 'none' },
  ),
  country: option(plainText('<code>'), 'country of those that national ids mean', {
    otherwise: 'any',
    doc: 'Country of those that national ids mean, ISO 3166-1 alpha-2.',
  }),
  allowLater: option(trueOrFalse, 'a later load may bring the same ids back', {
    doc: 'Whether a later load may bring the same ids back.',
  }),
  dryRun: DRY_RUN,
  memoryBytes: MEMORY,
  localBytes: LOCAL_BYTES,
  threads: THREADS,
  catalog: option(anObject('CatalogOptions'), "a catalog that shows the lake's Iceberg tables", {
    only: 'calls',
    otherwise: 'none',
  }),
  signal: signalThat('Stops it; the same call completes it.'),
} as const satisfies OptionTable

const { lake, companies, persons, nationalIds: _listed, country, allowLater, ...FORGETTING } = FORGET

export const FORGET_COMMAND = {
  ...{ lake, companies, persons },
  nationalIds: option(
    path(),
    'file of national ids of companies and persons, one a line; - reads standard input. Never as an argument: others see a command line',
  ),
  ...{ country, allowLater },
  refuseLater: option(trueOrFalse, 'a later load leaves the same ids out (default)'),
  ...FORGETTING,
  yes: YES,
  json: JSON_OUTPUT,
} as const satisfies OptionTable
