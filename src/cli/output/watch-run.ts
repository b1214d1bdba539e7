/** Shows the events of a run as they come. */

import type { Progress, RunEvent } from '../../run/work/progress.ts'
import { formatBytes, formatCount, formatCounted, formatRate } from '../../support/format.ts'
import type { ProgressLine } from './progress-line.ts'
import { type Amount, beforeCommit } from './time-left.ts'

const stateText = (progress: Progress, seconds: number): string => {
  const { sourcesDone, sources, bytesRead, bytesTotal, decodedBytes, records, quarantined } = progress
  return [
    formatCounted(records, 'record'),
    ...(bytesTotal === undefined ? [formatBytes(bytesRead)] : []),
    ...(decodedBytes > 0 ? [formatRate(decodedBytes, seconds)] : []),
    `${formatCount(sourcesDone)}/${formatCounted(sources, 'source')}`,
    ...(quarantined > 0 ? [`${formatCount(quarantined)} quarantined`] : []),
  ].join('  ')
}

const amountOf = ({ bytesLoaded, bytesTotal }: Progress): Amount | undefined =>
  bytesTotal === undefined ? undefined : beforeCommit(bytesLoaded, bytesTotal)

/** Shows one run; `nowMs` is a monotonic clock. */
export const watchRun = (
  line: ProgressLine,
  nowMs: () => number = () => performance.now(),
): ((event: RunEvent) => void) => {
  const startMs = nowMs()
  return (event) => {
    switch (event.kind) {
      case 'started':
        return line.log(startText(event))
      case 'already':
        return line.log(`Run ${event.run} was committed before: nothing is loaded again`)
      case 'again':
        return line.log(`Staged files of partition ${event.partition} are damaged: it is loaded again`)
      case 'progress':
        return line.show(() => stateText(event.progress, (nowMs() - startMs) / 1000), {
          amount: amountOf(event.progress),
          facts: { progress: event.progress },
        })
      case 'notice':
        return line.log(`${event.source}: ${event.text}`)
      case 'committing':
        return line.log(`Committing ${formatCounted(event.partitions, 'partition')}`)
      default:
        return
    }
  }
}

const startText = ({ run, resumed, finished }: Extract<RunEvent, { kind: 'started' }>): string =>
  resumed ? `Resuming run ${run} (${formatCounted(finished, 'partition')} done)` : `Run ${run} begins`
