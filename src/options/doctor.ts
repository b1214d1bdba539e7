/** Options of `doctor`. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { JSON_OUTPUT, LAKE } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import { sinksThat } from './read-jobs.ts'
import { MEANT_SERVICE } from './service.ts'
import { anObject, duration, manyOf, plainText, trueOrFalse } from './value-types.ts'

export const DOCTOR = {
  lake: option(LAKE.type, LAKE.about, {
    ...{ flag: LAKE.flag, variable: LAKE.variable },
    doc: `The lake whose bucket is meant: a folder, or \`${BUCKET_FORM}\`. @default none`,
  }),
  sinks: {
    ...sinksThat('look at what this needs too'),
    doc: 'Addresses that runs are delivered to, such as `csv:out` and `postgres://…`. @default FIRMLAKE_SINKS',
  },
  ...MEANT_SERVICE,
  online: option(
    trueOrFalse,
    'ask the service, buckets and databases whether they answer; in a bucket one small object is written and removed',
    {
      doc: 'Asks what is configured whether it answers: the service, buckets and PostgreSQL. In each bucket one small object of an own name is written and removed.',
    },
  ),
  limitMs: withDefault(duration(), 'with --online, longest wait for each answer', '15s', {
    flag: '--limit',
    doc: 'Longest wait for each answer, in milliseconds. @default 15_000',
  }),
  json: JSON_OUTPUT,
  tokenVariable: option(plainText(), 'name of the variable that holds the token', {
    only: 'calls',
    otherwise: "'FIRMLAKE_TOKEN'",
  }),
  uses: option(manyOf({ ...plainText(), ts: 'ServiceUse' }), 'the parts of the service that are used', {
    only: 'calls',
    otherwise: "['companies']",
  }),
  needs: option(
    manyOf({ ...plainText(), ts: 'OptionalPartName' }),
    'optional parts that must be there, besides those that the lake and the sinks take',
    { only: 'calls', otherwise: 'none' },
  ),
  env: option(anObject<NodeJS.ProcessEnv>('NodeJS.ProcessEnv'), 'the variables', {
    only: 'calls',
    otherwise: 'those of this process',
  }),
} as const satisfies OptionTable
