/** Options of `createService`, and of the commands that call the service. The token is never one of a command. */

import { DEFAULT_MAX_WAIT } from './engine.ts'
import { type Entry, needed, type OptionTable, option, type ValuesOf, withDefault } from './entry.ts'
import { anObject, callback, duration, path, plainText, rate, trueOrFalse, whole } from './value-types.ts'

const TRUST_CLOCK = option(
  trueOrFalse,
  'take the dates of the service as they are: the clock of this machine is wrong',
  {
    section: 'service',
    fileAbout: 'take the dates of the service as they are, where the clock of this machine is wrong',
    doc: 'Takes the instants of the service as they are, where the clock of this machine is wrong.',
  },
)

/** Address of the service, and the token for it. */
export const MEANT_SERVICE = {
  url: option(plainText('<url>'), 'address of the service (or FIRMLAKE_URL)', {
    ...{ section: 'service', variable: 'FIRMLAKE_URL', fileAbout: 'address' },
    doc: 'Address of the service. @default FIRMLAKE_URL',
  }),
  tokenFile: option(path(), 'file that holds the token (or FIRMLAKE_TOKEN)', {
    ...{ section: 'service', variable: 'FIRMLAKE_TOKEN', fileAbout: 'file that holds the token' },
    doc: 'File that holds the token. @default FIRMLAKE_TOKEN_FILE',
  }),
  trustClock: TRUST_CLOCK,
} as const satisfies OptionTable

export const SERVICE_ADDRESS = {
  url: { ...MEANT_SERVICE.url, only: 'commands' },
  tokenFile: { ...MEANT_SERVICE.tokenFile, only: 'commands' },
  trustClock: { ...TRUST_CLOCK, only: 'commands' },
} as const satisfies OptionTable

const RATE = option(rate, 'most requests in a second, all together', {
  ...{ section: 'service', otherwise: 'learnt from the answers' },
  doc: 'The most requests a second over everything the service object does.',
})

const MAX_WAIT = withDefault(
  duration(),
  'longest wait for a busy service; beyond it the command ends with 75',
  DEFAULT_MAX_WAIT,
  {
    ...{ section: 'service', flag: '--max-wait', key: 'max_wait' },
    fileAbout: 'longest wait for a busy service',
    doc: 'Longest time one request may wait for its retries, in milliseconds. @default 900_000',
  },
)

/** @param about what is done side by side */
export const atOnce = (about: string) =>
  withDefault(whole(), about, '4', { section: 'service', fileAbout: 'windows or downloads side by side' })

export const CONCURRENCY = atOnce('windows pulled side by side')

/** The service of a command. @param concurrency what is done side by side */
export const calling = <const E extends Entry<number>>(concurrency: E) =>
  ({
    ...SERVICE_ADDRESS,
    concurrency,
    maxRequestsPerSecond: { ...RATE, only: 'commands' },
    maxWaitMs: { ...MAX_WAIT, only: 'commands' },
  }) as const satisfies OptionTable

/** The service as a command names it. */
export type CalledService = ValuesOf<ReturnType<typeof calling<typeof CONCURRENCY>>>

const milliseconds = (doc: string, value: number, text: string) =>
  withDefault(duration(), doc, { value, text }, { only: 'calls' })

export const SERVICE = {
  url: needed(
    { ...plainText(), expectedOfCall: 'the base address of the service' },
    "base address; the operations' paths are appended",
  ),
  token: needed({ ...plainText(), expectedOfCall: 'a bearer token' }, 'the bearer token'),
  maxRequestsPerSecond: RATE,
  maxWaitMs: MAX_WAIT,
  concurrency: withDefault(whole(), 'requests that may be under way at once', '8'),
  maxBodyBytes: withDefault(rate, 'largest body that is held whole, decompressed, in bytes', {
    ...{ value: 2 ** 30, text: '1 GiB (500 profiles are about 5 MB)' },
  }),
  maxListingBytes: withDefault(
    rate,
    'largest listing of batch files or search parameters, decompressed, in bytes',
    { value: 64 * 2 ** 20, text: '64 MiB (some 200,000 files)' },
  ),
  connectTimeoutMs: milliseconds('longest wait for a connection, in milliseconds', 10_000, '10_000'),
  headersTimeoutMs: milliseconds(
    'longest wait for the first byte of an answer, in milliseconds',
    60_000,
    '60_000 (a page of 500 takes seconds)',
  ),
  bodyTimeoutMs: milliseconds(
    'longest pause between two chunks of a body, in milliseconds',
    60_000,
    '60_000',
  ),
  timing: option(anObject('Timing'), 'clock, pauses and chance', {
    only: 'calls',
    otherwise: "the system's",
  }),
  now: option(
    callback<() => Date>('() => Date'),
    'the clock of this machine, by which instants of the service are judged',
    { only: 'calls', otherwise: "the system's" },
  ),
  trustClock: TRUST_CLOCK,
  onWarning: option(
    callback('(text: string) => void'),
    'called with what is odd about answers that are dealt with all the same, each text once',
    { only: 'calls', otherwise: 'nobody' },
  ),
} as const satisfies OptionTable
