/** `upgrade`: a lake of an earlier release in the newest format, and back, each in one call. */

import { orInterrupted } from '../core/interrupted.ts'
import { type TakenBack, takeBack } from '../pipeline/upgrade/take-back.ts'
import { type UpgradeOptions, type UpgradeSummary, upgradeLake } from '../pipeline/upgrade/upgrade-lake.ts'

/**
 * Brings all that earlier releases wrote to the newest format: one more snapshot of the same records, hashes beside files,
 * columns of published tables, `lake.duckdb`. Earlier snapshots stay as they are. Until the next commit it can be taken back
 * (`takeBackUpgrade`). Given again after a crash it goes on. What a catalog keeps is not reached: `publish` brings it up to date.
 *
 * @returns what was changed; `kind: 'nothing'` where all was new
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `LAKE_NEWER` where a later release wrote the lake, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`,
 *   `PUBLISH_CONFLICT`, `COMMIT_CONFLICT`, `RUN_LIVE`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`,
 *   `INTERRUPTED`
 * @example
 * import { convert, upgrade } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { kind, changes } = await upgrade({ lake: './lake' })
 * console.log(kind, changes.length) // nothing 0
 */
export const upgrade = (options: UpgradeOptions): Promise<UpgradeSummary> =>
  orInterrupted('The upgrade', options.signal, () => upgradeLake(options))

/**
 * Takes back the upgrade of a lake, also one that was not finished: the lake is byte for byte what the earlier release left, as
 * long as nothing was committed since. Given again after a crash it goes on.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`; `UPGRADE_STANDS` where something was committed since, or there was none; `RUN_LIVE`
 *   while a run is at work; `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`
 * @example
 * import { convert, takeBackUpgrade, ToolkitError } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const failed = await takeBackUpgrade({ lake: './lake' }).catch((error: unknown) => error)
 * console.log(failed instanceof ToolkitError && failed.code) // UPGRADE_STANDS
 */
export const takeBackUpgrade = ({ lake }: { readonly lake: string }): Promise<TakenBack> => takeBack(lake)
