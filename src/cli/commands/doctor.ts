/** `doctor`: what this machine has, and what is missing for what. */

import type { Command } from 'commander'
import type { FileSettings } from '../../config/definition.ts'
import { EXIT } from '../../core/exit-codes.ts'
import type { ServiceUse } from '../../doctor/check-service.ts'
import type { MachineFinding } from '../../doctor/finding.ts'
import type { Diagnosis } from '../../jobs/doctor.ts'
import { asksForTelemetry } from '../../observe/settings.ts'
import { DOCTOR } from '../../options/doctor.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import type { DoctorOptions } from '../../options/interfaces.ts'
import { addCommand } from '../add-command.ts'
import { loadedConfig } from '../config/loaded-config.ts'
import { printJson, printLines } from '../output/print.ts'
import { coloured } from '../output/text-table.ts'

export const addDoctor = (program: Command): void => {
  addCommand(program, {
    name: 'doctor',
    summary: 'check the machine, the optional packages and the configuration',
    description:
      'Says what this machine has (Node, memory, DuckDB and its extensions, optional packages and their versions, the token) ' +
      'and what is missing for what, with the line that mends it. With --online it asks what is configured whether it ' +
      'answers: the service, buckets, PostgreSQL. ' +
      'Ends with 1 where something is missing that the core or the configuration needs.',
    options: DOCTOR,
    run: runDoctor,
    examples: [
      ['doctor', 'what is there, and what is missing'],
      ['doctor --online', 'does all answer that firmlake.toml and the environment name?'],
    ],
  })
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
  const diagnosis = await diagnose({ lake, url: service?.url, online: true }, settings)
  await printLines(linesOf(diagnosis))
  return diagnosis
}

const diagnose = async (asked: DoctorOptions, settings: FileSettings): Promise<Diagnosis> => {
  const { doctor } = await import('../../jobs/doctor.ts')
  const uses = usesOf(settings)
  const named = settings.service?.token_env
  return await doctor({
    ...asked,
    // The value of the one that is named stands in this variable too, if it has any.
    tokenVariable: process.env.FIRMLAKE_TOKEN ? undefined : named,
    uses: uses.length > 0 ? uses : undefined,
    needs: asksForTelemetry(process.env) ? ['telemetry'] : [],
  })
}

const runDoctor = async (values: ValuesOf<typeof DOCTOR>): Promise<void> => {
  const diagnosis = await diagnose(askedOf(DOCTOR, values), loadedConfig().file?.settings ?? {})
  // Set before anything is printed: a reader that goes away must not turn a failure into a success.
  if (!diagnosis.well) process.exitCode = EXIT.failed
  await (values.json ? printJson(diagnosis) : printLines(linesOf(diagnosis)))
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

const linesOf = ({ well, findings }: Diagnosis): string[] => [
  ...findings.flatMap(({ about, state, says, mend }) => [
    `${signOf(state)}${about.padEnd(11)}${says}`,
    ...(mend === undefined ? [] : [`${' '.repeat(19)}→ ${mend}`]),
  ]),
  well
    ? 'The core and what is configured have all they need.'
    : 'Something is missing that the core or the configuration needs.',
]
