/**
 * A worker whose steps are a sleep of 50 ms, or the shell command of STAND_IN; it is started with the options of `firmlake
 * worker`.
 */

import { parseArgs } from 'node:util'
import { addressOf, runWorker } from '../src/engine/temporal/worker.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    temporal: { type: 'string' },
    'task-queue': { type: 'string' },
    slots: { type: 'string', default: '1' },
  },
})
const DONE = JSON.stringify({ kind: 'already', snapshot: null })

await runWorker(
  addressOf({ address: values.temporal, namespace: undefined, taskQueue: values['task-queue'] }),
  {
    slots: Number(values.slots),
    // What a step adds are the parameters of the command.
    command: ['/bin/sh', '-c', `${process.env.STAND_IN ?? 'sleep 0.05'}; echo '${DONE}'`, 'step'],
    signal: new AbortController().signal,
    log: () => undefined,
    onReady: () => console.error('Working for the benchmark'),
  },
)
