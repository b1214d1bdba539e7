/** What the windows of a pull have brought, by the partitions of its run. Pure. */

import type { PartitionEntry, PullEntry } from '../../core/partition.ts'
import { windowsOf } from './plan-pull.ts'
import type { PullPlan } from './pull-plan.ts'

/** One window as it was pulled. */
export interface PulledWindow {
  readonly name: string
  /** When it was planned; absent in a sync, whose windows are lists of companies. */
  readonly planned?: number
  readonly announced: number
  readonly received: number
  readonly pages: number
}

type Loaded = readonly Pick<PartitionEntry, 'source'>[]

/** Records that the windows of a run brought. */
export const receivedOf = (partitions: Loaded): number => {
  const windows = new Map(partitions.map(({ source }) => [source.name, source.window?.received ?? 0]))
  return [...windows.values()].reduce((sum, records) => sum + records, 0)
}

/** Its windows in the plan's order, as they were pulled. */
export const pulledWindows = (
  partitions: Loaded,
  content: PullEntry['content'],
  plan: PullPlan,
): readonly PulledWindow[] => {
  const windows = new Map(partitions.map(({ source }) => [source.name, source.window]))
  return windowsOf(content, plan).map(({ name }, at) => {
    const { announced = 0, received = 0, pages = 0 } = windows.get(name) ?? {}
    return { name, planned: plan.windows[at]?.announced ?? 0, announced, received, pages }
  })
}
