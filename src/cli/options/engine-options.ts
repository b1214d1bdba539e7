/** The options of an engine, as commands use them. */

import type { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { ENGINE, MOST_UNITS_AT_ONCE, TEMPORAL } from '../../options/engine.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { optionsOf } from '../add-command.ts'

export type TemporalFlags = ValuesOf<typeof TEMPORAL>
export type EngineFlags = ValuesOf<typeof ENGINE>

export const temporalOptions = (): Option[] => optionsOf(TEMPORAL).map(([, one]) => one)

export const engineOptions = (): Option[] => optionsOf(ENGINE).map(([, one]) => one)

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
