/** The options of an engine, as commands use them. */

import { ToolkitError } from '../../core/errors.ts'
import { type ENGINE, MOST_UNITS_AT_ONCE, type TEMPORAL } from '../../options/engine.ts'
import type { ValuesOf } from '../../options/entry.ts'

type TemporalFlags = ValuesOf<typeof TEMPORAL>
export type EngineFlags = ValuesOf<typeof ENGINE>

/** @throws {ToolkitError} USAGE where options of an engine are given without one */
export const checkEngine = (flags: EngineFlags): void => {
  const { engine, temporal, namespace, taskQueue } = flags
  if (engine !== undefined) return
  if ([temporal, namespace, taskQueue, flags.unitsAtOnce].every((one) => one === undefined)) return
  throw new ToolkitError('USAGE', 'Cannot use the options of an engine without one: add --engine temporal')
}

export const unitsAtOnceOf = ({ unitsAtOnce: units = MOST_UNITS_AT_ONCE }: EngineFlags): number => units

/** The address of Temporal by the flags. */
export const temporalPlace = ({ temporal: address, namespace, taskQueue }: TemporalFlags) => ({
  address,
  namespace,
  taskQueue,
})
