/** Options of the steps of a run that any machine can take, and of their commands. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { JSON_OUTPUT, LAKE, MEMORY, signalThat } from './common.ts'
import { AS_OF, CONTENT_OF_FILES, LINES } from './convert.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { AGAIN, COMMON, LOAD, MAX_GONE, PARTITIONS, SKIP_BAD_FILES, UNKNOWN, WORKING } from './lake-jobs.ts'
import { TAKEN_BY_LOADS } from './projection.ts'
import { SEARCHED, spanned } from './search.ts'
import { atOnce, CONCURRENCY, calling } from './service.ts'
import { callback, choiceOf, inputs, manyOf, plainText, rate, shard, size, whole } from './value-types.ts'

const { lake, mode, changeTaken, changeCurrency, take, hashKey, onEvent } = LOAD

/** A step of a run, and where the run is. */
export const RUN_STEP = {
  run: needed({ ...plainText(), expectedOfCall: 'the id of a run' }, 'id of the run', {
    ...{ argument: '<run>', doc: 'Id of the run, as `planRun` gave it.' },
  }),
  lake: { ...LAKE, doc: `A folder that all machines reach, or \`${BUCKET_FORM}\`.` },
  json: JSON_OUTPUT,
} as const satisfies OptionTable

/** Options of each plan, whatever it loads. */
export const RUN_PLAN = {
  ...{ lake, mode },
  again: AGAIN,
  skipBadFiles: SKIP_BAD_FILES,
  unitBytes: withDefault(size(), 'stored bytes of the files of a unit', '64MiB', {
    doc: 'Stored bytes of the files of a unit. @default 64 MiB',
  }),
  concurrency: atOnce('windows listed side by side'),
  maxRequestsPerSecond: option(rate, 'requests a second of all workers together; each takes its share', {
    otherwise: 'learnt by each for itself',
  }),
  memoryBytes: withDefault(MEMORY.type, MEMORY.about, MEMORY.default, {
    ...{ flag: MEMORY.flag, section: 'machine', key: MEMORY.key },
    doc: 'Peak memory of a worker, in bytes: the size of blocks follows from it. @default 1 GiB, less in a small container',
  }),
  threads: option(PARTITIONS.type, PARTITIONS.about, {
    ...{ otherwise: PARTITIONS.otherwise },
    doc: 'Partitions that a worker loads side by side. @default as many as cores, and as there is memory for',
  }),
  ...UNKNOWN,
  ...TAKEN_BY_LOADS,
  ...{ changeTaken, changeCurrency, take, hashKey },
  signal: LOAD.signal,
  json: JSON_OUTPUT,
} as const satisfies OptionTable

/** `planRun`: the load says which of them are its own. */
export const PLAN_RUN = {
  load: needed(choiceOf('<load>', 'convert', 'pull', 'sync', 'batches'), 'what is loaded'),
  from: needed({ ...inputs, expectedOfCall: 'paths, a service or batch files' }, 'where it comes from'),
  content: CONTENT_OF_FILES,
  asOf: AS_OF,
  ...spanned('the last pull of the same search'),
  search: { ...SEARCHED.search, required: false, always: false },
  ...LINES,
  ...RUN_PLAN,
} as const satisfies OptionTable

const { maxRequestsPerSecond: _share, ...WORKER_SERVICE } = calling(CONCURRENCY)
const { concurrency: _windows, ...ASKED_SERVICE } = WORKER_SERVICE
/** The service of a commit: where it is asked whether it still lists companies. */
export const COMMIT_SERVICE = ASKED_SERVICE

/** @param use of the service, and when it is closed */
const serviceOfRun = (use: string) =>
  option(callback('(url: string, share: number | undefined) => Service | Promise<Service>'), use, {
    only: 'calls',
    otherwise: 'with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL',
  })

export const WORK_RUN = {
  run: { ...RUN_STEP.run, about: 'id of the run, see --plan-only of "firmlake convert"' },
  lake: RUN_STEP.lake,
  units: option(manyOf({ ...whole(0), argument: '<n...>' }), 'these units, by their numbers from 0', {
    flag: '--unit',
  }),
  shard: option(shard, 'each n-th unit, from the i-th on (from 0)'),
  workers: option(whole(), 'workers at once, which share the requests a second of the plan', {
    otherwise: 'n of --shard, else 1',
    doc: 'Workers at once, which share the requests a second. @default as many as there are shards, else 1',
  }),
  memoryBytes: withDefault(MEMORY.type, MEMORY.about, MEMORY.default, {
    ...{ flag: MEMORY.flag, section: 'machine', key: MEMORY.key },
    doc: 'Peak memory in all, in bytes: as much as the run was planned with. @default 1 GiB, less in a small container',
  }),
  threads: PARTITIONS,
  ...WORKER_SERVICE,
  json: JSON_OUTPUT,
  service: serviceOfRun(
    "opens the service of a run that pulls from one, by the address in the run's plan and with this worker's share of the requests a second; it is closed when the work ends",
  ),
  signal: signalThat('Stops the work cleanly: units that are done are kept.'),
  onEvent,
  onUnit: option(callback('(outcome: UnitOutcome) => void'), 'called with what became of each unit', {
    only: 'calls',
  }),
} as const satisfies OptionTable

const { localBytes } = LOAD

export const COMMIT_RUN = {
  ...{ run: RUN_STEP.run, lake: RUN_STEP.lake },
  maxGone: MAX_GONE,
  ...WORKING,
  ...COMMIT_SERVICE,
  json: JSON_OUTPUT,
  ...COMMON,
  ...{ localBytes, onEvent },
  service: serviceOfRun(
    "opens the service of a run that pulled from one, by the address in the run's plan and with the requests a second of all workers, where it is to be asked for companies that a whole search lacks; it is closed after the commit",
  ),
} as const satisfies OptionTable
