/** `replay`: the lines of a lake's quarantine loaded again, in one call. */

import { sourcesOf } from '../../manifest/form/sources.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { given, type LoadOptions, measured, runOptionsOf, withTargets } from '../common/load-job.ts'
import { NOTHING_LOADED, type RunReport } from '../common/run-report.ts'
import type { ConvertOptions } from '../convert/convert.ts'
import type { QuarantineFile } from './quarantine.ts'
import { quarantineFiles } from './quarantine-files.ts'
import { replayFiles } from './replay-files.ts'

/** Options of `replay`. */
export interface ReplayOptions
  extends Omit<LoadOptions<ReplayReport>, 'maxQuarantined' | 'mode'>,
    Pick<ConvertOptions, 'maxLineBytes' | 'maxDepth'> {
  /** Only lines of sources with these names; `*` stands for any text. @default all */
  readonly sources?: readonly string[] | undefined
}

/** What a replay did. */
export type ReplayReport = Omit<RunReport, 'run'> & {
  /** `null` where no such line is in the quarantine: no run was begun. */
  readonly run: string | null
}

/** Whether a source's name fits a pattern. */
const fits = (name: string, pattern: string): boolean => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name)
}

const filesOf = async ({ lake, sources }: ReplayOptions): Promise<readonly QuarantineFile[]> =>
  (await quarantineFiles({ lake })).filter(
    ({ partition }) =>
      sources?.some((pattern) => sourcesOf(partition).some(({ name }) => fits(name, pattern))) ?? true,
  )

/**
 * Loads the lines of the quarantine again, after a newer version or with other limits, all in one commit. What is still bad
 * stays in the quarantine. Then published tables and sinks are updated.
 *
 * @returns what the run did, and what its targets received; `snapshot: null` where no line could be loaded
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `CURRENCY_CHANGED` before the commit; `DISK_FULL`,
 *   `WRITE_FAILED`, `USAGE`, `INTERRUPTED`; what `updateTargets` throws, after the commit
 * @example
 * import { convert, fromRecords, replay } from 'firmlake'
 *
 * const bad = fromRecords('crm', [{ BasicDetails: { InternalId: 7, CompanyName: 7 } }])
 * await convert({ from: bad, content: 'companies', lake: './lake', maxQuarantined: 1 })
 * const { snapshot, records } = await replay({ lake: './lake', sources: ['crm*'] }) // still bad
 * console.log(snapshot === null, records) // true 0
 */
export const replay = (options: ReplayOptions): Promise<ReplayReport & TargetsSummary> => {
  const { maxLineBytes, maxDepth } = options
  return withTargets<ReplayReport>(options, async () => {
    const files = await filesOf(options)
    const { loaded, report } = await measured(runOptionsOf(options), async (run) =>
      files.length === 0 ? undefined : replayFiles(files, given({ maxLineBytes, maxDepth }), run),
    )
    return { ...report(loaded ?? NOTHING_LOADED), run: loaded?.run ?? null }
  })
}
