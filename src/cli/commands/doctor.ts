/** `doctor`: what this machine has, and what is missing for what. */

import { type Command, Option } from 'commander'
import type { FileSettings } from '../../config/definition.ts'
import { EXIT } from '../../core/exit-codes.ts'
import type { ServiceUse } from '../../jobs/doctor/check-service.ts'
import type { Diagnosis } from '../../jobs/doctor/doctor.ts'
import type { MachineFinding } from '../../jobs/doctor/finding.ts'
import { asksForTelemetry } from '../../observe/settings.ts'
import { loadedConfig } from '../config/loaded-config.ts'
import { withExamples } from '../help.ts'
import { durationOf, type JsonOption, jsonOption, lakeOrTargetOption } from '../options/options.ts'
import { sinkOption } from '../options/run-options.ts'
import { addressOptions } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { coloured } from '../output/text-table.ts'

interface DoctorFlags extends JsonOption {
  readonly lake?: string | undefined
  readonly sink?: readonly string[]
  readonly url?: string | undefined
  readonly tokenFile?: string
  readonly trustClock?: true
  readonly online?: true
  /** Milliseconds. */
  readonly limit: number
}

const DEFAULT_LIMIT = '15s'

export const addDoctor = (program: Command): void => {
  const command = program
    .command('doctor')
    .summary('check the machine, the optional packages and the configuration')
    .description(
      'Says what this machine has (Node, memory, disks, DuckDB, optional packages and their versions, the token, variables ' +
        'of credentials by their names) and what is missing for what, with the line that mends it; with --lake also how the ' +
        'lake stands. With --online it asks what is configured whether it answers: the service, buckets, PostgreSQL, the ' +
        'Iceberg catalog; without it no network is asked but for the bucket of a lake. ' +
        'Ends with 1 where something is missing that the core or the configuration needs.',
    )
    .addOption(lakeOrTargetOption())
    .addOption(sinkOption('look at what this needs too'))
  for (const option of addressOptions()) command.addOption(option)
  command
    .option(
      '--online',
      'ask the service, buckets and databases whether they answer; in a bucket one small object is written and removed',
    )
    .addOption(
      new Option('--limit <time>', 'with --online, longest wait for each answer')
        .argParser(durationOf('--limit'))
        .default(durationOf('--limit')(DEFAULT_LIMIT), DEFAULT_LIMIT),
    )
    .addOption(jsonOption())
    .action(runDoctor)
  withExamples(command, [
    ['doctor', 'what is there, and what is missing'],
    ['doctor --lake ./lake', 'the lake and its disk too'],
    ['doctor --online', 'does all answer that firmlake.toml and the environment name?'],
  ])
}

/** The uses of the service by the loads of the file. */
const usesOf = ({ pull = [], sync = [], batch_files = [] }: FileSettings): readonly ServiceUse[] => {
  const contents = new Set<ServiceUse>(pull.map(({ content }) => content))
  if (sync.length > 0) contents.add('companies')
  if (batch_files.length > 0) contents.add('batchFiles')
  return [...contents]
}

/** Asks what the file configures whether it answers. @param settings of a file that was just written */
export const tryConfigured = async (settings: FileSettings): Promise<Diagnosis> => {
  const { lake, service } = settings
  const limit = durationOf('--limit')(DEFAULT_LIMIT)
  const diagnosis = await diagnose({ lake, url: service?.url, online: true, limit }, settings, true)
  await printLines(linesOf(diagnosis))
  return diagnosis
}

const diagnose = async (
  flags: DoctorFlags,
  settings: FileSettings,
  mayBeNew: boolean,
): Promise<Diagnosis> => {
  const { lake, sink: sinks, url, tokenFile, trustClock, online, limit: limitMs } = flags
  const { doctor } = await import('../../jobs/doctor/doctor.ts')
  const uses = usesOf(settings)
  const named = settings.service?.token_env
  return await doctor({
    ...{ lake, mayBeNew, sinks, url, tokenFile, trustClock, online, limitMs },
    // The value of the one that is named stands in this variable too, if it has any.
    tokenVariable: process.env.FIRMLAKE_TOKEN ? undefined : named,
    uses: uses.length > 0 ? uses : undefined,
    needs: asksForTelemetry(process.env) ? ['telemetry'] : [],
  })
}

const runDoctor = async (flags: DoctorFlags, command: Command): Promise<void> => {
  // The file may name a lake before its first load; who names one here means one that is there.
  const mayBeNew = command.getOptionValueSource('lake') === 'default'
  const diagnosis = await diagnose(flags, loadedConfig().file?.settings ?? {}, mayBeNew)
  // Set before anything is printed: a reader that goes away must not turn a failure into a success.
  if (!diagnosis.well) process.exitCode = EXIT.failed
  await (flags.json ? printJson(diagnosis) : printLines(linesOf(diagnosis)))
}

const SIGNS: Readonly<Record<MachineFinding['state'], string>> = {
  well: 'ok',
  absent: '--',
  missing: 'MISSING',
}

const signOf = (state: MachineFinding['state']): string => {
  const sign = SIGNS[state].padEnd(8)
  return state === 'missing' ? coloured('red', sign) : sign
}

const linesOf = ({ well, findings, variables }: Diagnosis): string[] => [
  ...findings.flatMap(({ about, state, says, mend }) => [
    `${signOf(state)}${about.padEnd(11)}${says}`,
    ...(mend === undefined ? [] : [`${' '.repeat(19)}→ ${mend}`]),
  ]),
  `${'ok'.padEnd(8)}${'variables'.padEnd(11)}${variables.length > 0 ? `set: ${variables.join(', ')}` : 'none is set'}`,
  well
    ? 'The core and what is configured have all they need.'
    : 'Something is missing that the core or the configuration needs.',
]
