/** `convertTo`: files and records straight into files or a database, in one call, without keeping a lake. */

import { join } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { CONVERT_TO } from '../options/convert.ts'
import type { ConvertToOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import type { RunReport } from '../run/run-report.ts'
import { type ExportSummary, exportTables } from '../targets/export/export-tables.ts'
import {
  checkExport,
  exportsOf,
  exportWorkFolder,
  filesOfTarget,
  refuseCsvOptions,
  withTableOfFile,
} from '../targets/export/plan-exports.ts'
import { openWorkshop } from '../targets/export/write-rows.ts'
import { chooseSink, readAddress } from '../targets/open-sink.ts'
import { convert, sourcesOfInputs } from './convert.ts'
import { query } from './query.ts'

/** The report of the load, and the tables that were written. */
export interface ConvertedTo extends Omit<RunReport, 'run' | 'snapshot' | 'noViews'> {
  readonly tables: ExportSummary['tables']
  readonly warnings: ExportSummary['warnings']
  /** Quarantined lines by their code. */
  readonly quarantinedBy: Readonly<Record<string, number>>
}

/**
 * Loads companies and relations as `convert` does, with the same checks, and exports the tables as `exportTables` does. The
 * lake in between stands beside the target and is removed in every case; one of a killed process is removed by the next
 * call there. So an interrupted call starts again, and lines in the quarantine are only counted.
 *
 * @throws {ToolkitError} what `convert` and `exportTables` throw; a target that cannot be used, or is an input, is refused first
 * @example
 * import { convertTo } from 'firmlake'
 *
 * const { records, tables } = await convertTo({ from: ['batches/'], to: 'companies.csv', tables: ['companies'] })
 * console.log(records, tables[0]?.rows) // 5 3
 */
export const convertTo: (options: ConvertToOptions) => Promise<ConvertedTo> = job(
  'convertTo',
  CONVERT_TO,
  async (options) => {
    const {
      to,
      tables,
      names,
      overwrite,
      adopt = false,
      neutralise,
      delimiter,
      bom,
      onProgress,
      ...load
    } = options
    const address = readAddress(to)
    const what = { tables, names, overwrite, neutralise, delimiter, bom }
    refuseCsvOptions(address, what)
    const exports = exportsOf(withTableOfFile(address, what))
    await checkExport(address, exports, what)
    // Tables of an earlier call in a folder of the inputs are none.
    const from = await sourcesOfInputs(
      [load.from].flat(),
      load.content,
      await filesOfTarget(address, exports),
    )
    const { signal, memoryBytes, threads } = load
    const workshop = await openWorkshop(exportWorkFolder(address))
    try {
      if (address.kind === 'database')
        await (await chooseSink(address)).deliveredRuns({
          ...{ staging: join(workshop.folder, 'staging'), signal },
          claim: { lake: null, adopt, marks: false },
        })
      const lake = join(workshop.folder, 'lake')
      const loaded = await convert({ ...load, from, lake }).catch(sayWhereToLook)
      const { run: _run, snapshot, noViews: _noViews, delivered: _delivered, ...report } = loaded
      if (snapshot === null) return { ...report, tables: [], warnings: [], quarantinedBy: {} }
      const quarantinedBy = report.quarantined > 0 ? await countByCode(lake, memoryBytes) : {}
      const written = await exportTables({
        ...what,
        adopt,
        to: address,
        lake,
        memoryBytes,
        threads,
        signal,
        onProgress,
      })
      return { ...report, tables: written.tables, warnings: written.warnings, quarantinedBy }
    } finally {
      await workshop.remove()
    }
  },
)

/** The quarantine that the message of a run names is gone with its lake. */
const sayWhereToLook = (error: unknown): never => {
  if (!(error instanceof ToolkitError) || error.code !== 'QUARANTINE_LIMIT') throw error
  const { quarantined, lines, excess } = error.context
  throw new ToolkitError(
    'QUARANTINE_LIMIT',
    `Cannot convert: ${excess}; convert them into a lake to see why`,
    { quarantined: Number(quarantined), lines: Number(lines) },
    error,
  )
}

const countByCode = async (
  lake: string,
  memoryBytes: number | undefined,
): Promise<Readonly<Record<string, number>>> => {
  const rows = await query({
    lake,
    sql: 'SELECT code, count(*) AS lines FROM quarantine GROUP BY 1 ORDER BY 2 DESC, 1',
    memoryBytes,
  })
  return Object.fromEntries(rows.map(({ code, lines }) => [String(code), Number(lines)]))
}
