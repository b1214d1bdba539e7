/** `convert --to`: runs the job that keeps no lake, shows its progress, and prints what it wrote. */

import { ToolkitError } from '../core/errors.ts'
import { type ConvertedTo, type ConvertToOptions, convertTo } from '../jobs/convert/convert-to.ts'
import { exitCodeOfReports } from './exit-codes.ts'
import { interruptible } from './interrupt.ts'
import type { JsonOption } from './options/options.ts'
import { exportedLines, exportProgressText } from './output/export-report.ts'
import { formatCount, formatCounted } from './output/format.ts'
import { note, printJson, printLines } from './output/print.ts'
import { ProgressLine } from './output/progress-line.ts'
import { countLines, remarkLines, warnOfSources } from './output/run-report.ts'
import { warnOfPassword } from './output/target-warning.ts'
import { watchRun } from './output/watch-run.ts'

/** Options that mean a lake that stays. @throws {ToolkitError} USAGE */
export const refuseLakeOptions = (flags: Readonly<Record<string, unknown>>): void => {
  const given = ['lake', 'mode', 'again', 'sink', 'publish', 'engine', 'changeCurrency', 'changeTaken'].find(
    (name) => flags[name] !== undefined,
  )
  if (given === undefined) return
  throw new ToolkitError(
    'USAGE',
    `Cannot use --${given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} with --to: no lake is kept; with --lake, --sink delivers beside it`,
  )
}

const resultLines = (report: ConvertedTo): string[] => [
  ...countLines(report),
  '',
  ...(report.tables.length > 0 ? exportedLines(report.tables) : ['Nothing was loaded: nothing is written.']),
  ...remarkLines(report),
]

const warn = (report: ConvertedTo): void => {
  const { quarantined, lines, quarantinedBy, warnings } = report
  if (quarantined > 0) {
    const codes = Object.entries(quarantinedBy).map(([code, count]) => `${formatCount(count)} ${code}`)
    note(
      `warning: ${formatCount(quarantined)} of ${formatCounted(lines, 'line')} were left out (${codes.join(', ')}); ` +
        'convert into a lake to see and replay them',
    )
  }
  warnOfSources(report)
  for (const warning of warnings) note(`warning: ${warning}`)
}

export const runConvertTo = async (
  options: Omit<ConvertToOptions, 'signal' | 'onEvent' | 'onProgress'>,
  { json }: JsonOption,
): Promise<void> => {
  warnOfPassword([options.to])
  const line = new ProgressLine({ terminalOnly: json === true })
  let startMs = 0
  try {
    const report = await interruptible(
      (signal) =>
        convertTo({
          ...options,
          signal,
          onEvent: watchRun(line),
          onProgress: (progress) => {
            startMs ||= performance.now()
            line.show(() => exportProgressText(progress, (performance.now() - startMs) / 1000))
          },
        }),
      'nothing is left, the same command starts again',
    )
    line.clear()
    process.exitCode = exitCodeOfReports([report])
    if (json) return await printJson({ to: options.to, ...report })
    await printLines(resultLines(report))
    warn(report)
  } finally {
    line.clear()
  }
}
