/** `upgrade`: a lake of an earlier release in the newest format, and back until the next commit. */

import { type Command, Option } from 'commander'
import type { UpgradeSummary } from '../../pipeline/upgrade/upgrade-lake.ts'
import { interruptible } from '../interrupt.ts'
import { type JsonOption, jsonOption, type LakeOption, lakeOption, withExamples } from '../options/options.ts'
import { localBytesOption, memoryOption } from '../options/run-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { warnOfNoViews } from '../output/run-report.ts'

interface UpgradeFlags extends LakeOption, JsonOption {
  readonly dryRun?: true
  readonly back?: true
  readonly memory: number
  readonly localBytes?: number
}

export const addUpgrade = (program: Command): void => {
  const command = program
    .command('upgrade')
    .summary('bring a lake of an earlier release to the newest format, and back')
    .description(
      'Brings all that earlier releases wrote to the newest format: one more snapshot of the same records, hashes beside ' +
        'files, columns of published tables, lake.duckdb. Until the next commit --back takes it back, byte for byte. One ' +
        'that was killed is finished by the same command. Needed only where an old form is to go: each release reads and ' +
        'loads into lakes of all earlier ones.',
    )
    .addOption(lakeOption())
    .addOption(new Option('--dry-run', 'report what would be changed, change nothing').conflicts('back'))
    .option('--back', 'take back the upgrade that nothing was committed after')
    .addOption(memoryOption())
    .addOption(localBytesOption())
    .addOption(jsonOption())
    .action(runUpgrade)
  withExamples(command, [
    ['upgrade --lake ./lake --dry-run', 'what stands in an earlier form'],
    ['upgrade --lake ./lake', 'bring it to the newest one'],
    ['upgrade --lake ./lake --back', 'as it was, for the earlier release'],
  ])
}

const runUpgrade = async ({ lake, dryRun, back, memory, localBytes, json }: UpgradeFlags): Promise<void> => {
  const { takeBackUpgrade, upgrade } = await import('../../jobs/upgrade.ts')
  if (back) {
    const done = await takeBackUpgrade({ lake })
    const line = `The upgrade is taken back: snapshot ${done.snapshot} is the newest, in format ${done.format}.`
    await (json ? printJson({ lake, ...done }) : printLines([line]))
    return
  }
  const summary = await interruptible(
    (signal) => upgrade({ lake, dryRun, memoryBytes: memory, localBytes, signal }),
    'the same command goes on; --back takes it back',
  )
  await (json
    ? printJson({ lake, dryRun: dryRun ?? false, ...summary })
    : printLines(summaryLines(summary, dryRun)))
  warnOfNoViews(summary.noViews)
}

const summaryLines = ({ kind, snapshot, changes }: UpgradeSummary, dryRun?: true): string[] => {
  if (snapshot === 0) return ['The lake has no snapshot yet: nothing to upgrade.']
  if (kind === 'nothing') return [`All stands in the newest format: snapshot ${snapshot} stays the newest.`]
  const lines = changes.map(({ part, is, becomes }) => `${part}: ${is} → ${becomes}`)
  if (dryRun) return ['An upgrade would change:', ...lines]
  return [
    ...lines,
    `Upgraded: snapshot ${snapshot} is the newest. "firmlake upgrade --back" takes it back until the next commit.`,
  ]
}
