/**
 * A process whose writes fail: runs each case given as a line of JSON on standard input, and prints what came of it.
 * Arguments: the file that steers the failures. It is loaded with what `openFailingWrites` says.
 */

import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { errorText } from '../../src/cli/output/report-error.ts'
import { armFaults, disarmFaults, type FaultsSeen, type PlannedFault } from '../support/failing-writes.ts'
import { type Inputs, isWriteOperation, WRITE_OPERATIONS } from './write-operations.ts'

export interface WriteTask {
  readonly operation: string
  readonly lake: string
  readonly inputs: Inputs
  readonly fault: PlannedFault
}

export interface WriteOutcome extends FaultsSeen {
  /** `done`, or the code that the command line would report. */
  readonly code: string
  readonly message: string
  /** Why the lake has no views of what was committed, where it says so. */
  readonly noViews?: string
}

const [control = ''] = process.argv.slice(2)

const codeOf = (error: unknown): Pick<WriteOutcome, 'code' | 'message'> => {
  const text: { readonly error: Pick<WriteOutcome, 'code' | 'message'> } = JSON.parse(
    errorText(error, { json: true }),
  )
  return text.error
}

/** What work that went through warns of. */
const warningOf = (result: unknown): Pick<WriteOutcome, 'noViews'> =>
  typeof result === 'object' && result !== null && 'noViews' in result
    ? { noViews: String(result.noViews) }
    : {}

const tell = (outcome: WriteOutcome): void => {
  writeSync(1, `${JSON.stringify(outcome)}\n`)
}

// Neither may happen: the command line would end in the midst of its work.
process.on('uncaughtException', (error) => {
  const { message } = codeOf(error)
  tell({ ...disarmFaults(control), code: 'UNCAUGHT', message })
  process.exit(1)
})

writeSync(1, 'ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { operation, lake, inputs, fault }: WriteTask = JSON.parse(line)
  if (!isWriteOperation(operation)) throw new RangeError(`Cannot run "${operation}": no such operation`)
  armFaults(control, lake, fault)
  const came = await WRITE_OPERATIONS[operation]
    .run(lake, inputs)
    .then((result) => ({ code: 'done', message: '', ...warningOf(result) }), codeOf)
  tell({ ...disarmFaults(control), ...came })
}
