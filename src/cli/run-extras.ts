/**
 * What a run does besides loading: publishes its tables in other formats and delivers it to further sinks. Both bring
 * in step what is behind, also where a run had nothing new; the lake is committed before and stays so.
 */

import { ToolkitError } from '../core/errors.ts'
import { queryMemory } from '../pipeline/run/memory-shares.ts'
import { interruptible } from './interrupt.ts'
import { catalogOf } from './options/catalog-options.ts'
import type { ExtraOptions } from './options/run-options.ts'
import { formatCount, formatCounted } from './output/format.ts'
import { note } from './output/print.ts'
import { ProgressLine } from './output/progress-line.ts'
import { warnOfPassword } from './output/target-warning.ts'

export interface ExtraRequest extends ExtraOptions {
  readonly lake: string
  /** Memory in all, in bytes. */
  readonly memory: number
  readonly threads: number
  readonly json?: boolean | undefined
}

/** Refuses wrong `--sink` and `--publish` before anything is loaded. @throws {ToolkitError} USAGE, TARGET_REFUSED */
export const checkExtras = async ({
  lake,
  sink = [],
  publish = [],
}: Pick<ExtraRequest, 'lake' | 'sink' | 'publish'>): Promise<void> => {
  if (publish.length > 0) await formatsOf(publish)
  if (sink.length === 0) return
  const { openSinks } = await import('../pipeline/targets/open-sink.ts')
  await openSinks(sink, lake)
  warnOfPassword(sink)
}

const formatsOf = async (names: readonly string[]) => {
  const { TABLE_FORMAT_NAMES } = await import('../pipeline/targets/publish.ts')
  return names.map((name) => {
    const format = TABLE_FORMAT_NAMES.find((one) => one === name)
    if (format !== undefined) return format
    throw new ToolkitError(
      'USAGE',
      `Cannot publish "${name}": expected one of ${TABLE_FORMAT_NAMES.join(', ')}`,
    )
  })
}

/** One error after the run: its own code, and that the run is not lost. */
const afterCommit = (error: unknown): unknown => {
  if (!(error instanceof ToolkitError) || error.message.includes('lake itself is committed')) return error
  return new ToolkitError(
    error.code === 'USAGE' ? 'TARGET_FAILED' : error.code,
    `${error.message}. The lake itself is committed; the same command again goes on`,
    error.context,
    error,
  )
}

/**
 * Publishes and delivers what is behind. One that fails does not keep the other from its work.
 *
 * @throws {ToolkitError} the first failure, with the text that the lake is committed
 */
export const doExtras = async (request: ExtraRequest): Promise<void> => {
  const { sink = [], publish = [], json } = request
  if (sink.length === 0 && publish.length === 0) return
  const line = new ProgressLine({ terminalOnly: json === true })
  const failures: unknown[] = []
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failures.push(afterCommit(error))
    } finally {
      line.clear()
    }
  }
  await interruptible(async (signal) => {
    if (publish.length > 0) await attempt(() => publishAll(publish, request, line, signal))
    if (sink.length > 0 && !signal.aborted) await attempt(() => deliverAll(sink, request, line, signal))
  }, 'what is published and delivered is kept')
  const [first, ...others] = failures
  for (const error of others) note(`error ${error instanceof Error ? error.message : String(error)}`)
  if (first !== undefined) throw first
}

const publishAll = async (
  names: readonly string[],
  { lake, memory, threads }: ExtraRequest,
  line: ProgressLine,
  signal: AbortSignal,
): Promise<void> => {
  const { publish } = await import('../pipeline/targets/publish.ts')
  const summary = await publish({
    lake,
    formats: await formatsOf(names),
    catalog: catalogOf(),
    memoryBytes: queryMemory(memory),
    threads,
    signal,
    onProgress: ({ snapshots, snapshotsTotal, table }) =>
      line.show(
        () => `Publishing  ${formatCount(snapshots)}/${formatCounted(snapshotsTotal, 'snapshot')}  ${table}`,
      ),
  })
  line.log(`Published snapshot ${summary.snapshot} as ${names.join(', ')}`)
}

const deliverAll = async (
  addresses: readonly string[],
  { lake, memory }: ExtraRequest,
  line: ProgressLine,
  signal: AbortSignal,
): Promise<void> => {
  const { deliver } = await import('../pipeline/targets/deliver.ts')
  const deliveries = await deliver({
    lake,
    sinks: addresses,
    memoryBytes: memory,
    signal,
    onProgress: (progress) =>
      line.show(
        () =>
          `${progress.loading ? 'Loading into' : 'Delivering to'} ${progress.sink}  ${formatCount(progress.runsDone)}/${formatCounted(progress.runs, 'run')}  ` +
          formatCounted(progress.rows, 'row'),
      ),
  })
  for (const { sink, runs, rows } of deliveries)
    if (runs.length > 0)
      line.log(`Delivered ${formatCounted(runs.length, 'run')} to ${sink}: ${formatCounted(rows, 'row')}`)
  for (const warning of deliveries.flatMap(({ warnings }) => warnings)) note(`warning: ${warning}`)
}
