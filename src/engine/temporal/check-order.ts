/** Checks what comes through the engine before a worker acts on it: whoever may write there starts processes of the worker. */

import { isAbsolute } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { refuseOtherLakes } from '../../jobs/steps/run-engine.ts'
import { count, type Form, FormError, form, list, objectOf, yesNo } from '../../support/json-form.ts'
import { isRunId } from '../../support/run-ids.ts'
import { type RunOrder, UNITS_OF_SHARD } from './requests.ts'

const text = (is: (value: string) => boolean, expected: string): Form<string> =>
  form((value): value is string => typeof value === 'string' && is(value), expected)

const ORDER = objectOf({
  run: text(isRunId, 'the id of a run'),
  lake: text(
    (one) => !one.includes('\0') && (isAbsolute(one) || /^[a-z][a-z0-9+.-]*:\/\//i.test(one)),
    'an absolute path or an address',
  ),
  phases: list(objectOf({ count })),
  memoryBytes: count,
  unitsAtOnce: count,
  maxWaitMs: count,
  maxQuarantined: text((one) => /^\d{1,15}(\.\d{1,15})?%?$/.test(one), 'a number or a share'),
  changeCurrency: yesNo,
  heartbeatMs: count,
})

/**
 * @param lakes the places whose lakes the worker takes @default all
 * @throws {ToolkitError} `USAGE`
 */
export const checkOrder = async (order: RunOrder, lakes: readonly string[] | undefined): Promise<void> => {
  try {
    ORDER(order, 'order')
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    throw new ToolkitError('USAGE', `Cannot take a step of the engine: ${error.message}`)
  }
  await refuseOtherLakes(order, lakes)
}

/** One unit, or a range of them to before the second. @throws {ToolkitError} `USAGE` */
export const checkUnits = (from: number, to = from): void => {
  const areNumbers = [from, to].every((unit) => Number.isSafeInteger(unit) && unit >= 0)
  // A worker lists the range: one without an end would take all of its memory.
  if (areNumbers && to - from <= UNITS_OF_SHARD) return
  throw new ToolkitError(
    'USAGE',
    `Cannot take a step of the engine: expected units by their numbers, at most ${UNITS_OF_SHARD}`,
  )
}
