/** Options of commands that hand their run over to an engine, and of its workers. */

import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { DEFAULT_MAX_WAIT } from '../../options/engine.ts'
import { durationOf, wholeNumber } from './options.ts'
import { bytesOption } from './run-options.ts'

export interface TemporalFlags {
  readonly temporal?: string
  readonly namespace?: string
  readonly taskQueue?: string
}

export interface EngineFlags extends TemporalFlags {
  readonly engine?: 'temporal'
  readonly unitsAtOnce?: number
}

/** The flags of `convert`, which has no options of the service to take them from. */
export interface FileEngineFlags extends EngineFlags {
  readonly unitBytes?: number
  readonly maxWait: number
}

const MOST_UNITS_AT_ONCE = 200

const address = (text: string): string => {
  if (/^[^\s/:@]+:\d{1,5}$|^\[[\da-fA-F:]+\]:\d{1,5}$/.test(text)) return text
  throw new ToolkitError(
    'USAGE',
    `Cannot read --temporal "${text}": expected HOST:PORT, such as 127.0.0.1:7233`,
  )
}

/** Where Temporal is; TLS and an API key are never options. */
export const temporalOptions = (): Option[] => [
  new Option('--temporal <host:port>', 'address of the Temporal server (or TEMPORAL_ADDRESS)').argParser(
    address,
  ),
  new Option('--namespace <name>', 'its namespace (or TEMPORAL_NAMESPACE; default: "default")'),
  new Option('--task-queue <name>', 'its task queue (default: "firmlake-" and the release)'),
]

const unitsAtOnce = (text: string): number => {
  const units = wholeNumber('--units-at-once')(text)
  if (units <= MOST_UNITS_AT_ONCE) return units
  throw new ToolkitError(
    'USAGE',
    `Cannot read --units-at-once "${text}": expected at most ${MOST_UNITS_AT_ONCE}`,
  )
}

export const engineOptions = (): Option[] => [
  new Option('--engine <name>', 'let workers on many machines do it, see "firmlake worker"').choices([
    'temporal',
  ]),
  ...temporalOptions(),
  new Option(
    '--units-at-once <n>',
    `with --engine: most units at work over all machines (default: ${MOST_UNITS_AT_ONCE})`,
  ).argParser(unitsAtOnce),
]

export const fileEngineOptions = (): Option[] => [
  ...engineOptions(),
  bytesOption(
    '--unit-bytes <bytes>',
    'with --engine: stored bytes of the files of a unit',
    64 * 1024 ** 2,
    '64MiB',
  ),
  new Option(
    '--max-wait <time>',
    'with --engine: longest wait for workers of this release and for its server',
  )
    .argParser(durationOf('--max-wait'))
    .default(durationOf('--max-wait')(DEFAULT_MAX_WAIT), DEFAULT_MAX_WAIT),
]

/** @throws {ToolkitError} USAGE where options of an engine are given without one */
export const checkEngine = (flags: EngineFlags): void => {
  const { engine, temporal, namespace, taskQueue } = flags
  if (engine !== undefined) return
  if ([temporal, namespace, taskQueue, flags.unitsAtOnce].every((one) => one === undefined)) return
  throw new ToolkitError('USAGE', 'Cannot use the options of an engine without one: add --engine temporal')
}

export const unitsAtOnceOf = ({ unitsAtOnce: units = MOST_UNITS_AT_ONCE }: EngineFlags): number => units

/** Where the flags say that Temporal is. */
export const temporalPlace = ({ temporal: address, namespace, taskQueue }: TemporalFlags) => ({
  address,
  namespace,
  taskQueue,
})
