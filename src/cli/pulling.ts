/** What every command that pulls does around its work: progress, service, interruption, and all of it closed again. */

import type { RunOptions } from '../pipeline/run/load-into-lake.ts'
import type { Service } from '../source/service/service.ts'
import { interruptible } from './interrupt.ts'
import { checkMode, type ModeOption } from './options/lake-mode.ts'
import type { JsonOption, LakeOption } from './options/options.ts'
import type { LoadFlags, UnknownOptions } from './options/run-options.ts'
import { type ServiceCommandOptions, serviceOf } from './options/service-options.ts'
import { ProgressLine } from './output/progress-line.ts'
import { type RunWatch, watchRun } from './output/watch-run.ts'
import { checkExtras, doExtras } from './run-extras.ts'

export interface PullingOptions
  extends LakeOption,
    JsonOption,
    ModeOption,
    LoadFlags,
    UnknownOptions,
    ServiceCommandOptions {}

/** What the options say of a run, as the pipeline takes it. */
export interface PullingRun extends RunOptions {
  readonly service: Service
  readonly concurrency: number
}

export interface Pulling {
  readonly line: ProgressLine
  readonly watch: RunWatch
  readonly service: Service
  /** Does the work of the run; it can be interrupted, and when it ends the progress line is gone. */
  readonly work: <T>(use: (run: PullingRun) => Promise<T>) => Promise<T>
  /** How long it took, and how much was decoded. */
  readonly measured: () => { readonly seconds: number; readonly decodedBytes: number }
}

/** @throws {ToolkitError} as `serviceOf` and what is done with it */
export const pulling = async (
  options: PullingOptions,
  use: (pulling: Pulling) => Promise<void>,
): Promise<void> => {
  const { lake, mode, memory, threads, maxQuarantined, concurrency, changeCurrency } = options
  const { maxUnknownPerRecord, maxUnknownNames } = options
  await checkExtras(options)
  await checkMode(options)
  const line = new ProgressLine({ terminalOnly: options.json === true })
  const watch = watchRun(line)
  const service = await serviceOf(options)
  const run = {
    lake,
    mode,
    memoryBytes: memory,
    threads,
    limit: maxQuarantined,
    changeCurrency,
    maxUnknownPerRecord,
    maxUnknownNames,
    concurrency,
    service,
  }
  try {
    await use({
      line,
      watch,
      service,
      work: async (work) => {
        const done = await interruptible((signal) => work({ ...run, signal, onEvent: watch.onEvent }))
        line.clear()
        return done
      },
      measured: () => ({ seconds: watch.seconds(), decodedBytes: watch.decodedBytes() }),
    })
  } finally {
    line.clear()
    await service.close()
  }
  await doExtras(options)
}
