/** `doctor`: what this machine has, and what is missing for what. */

import { type Command, Option } from 'commander'
import { EXIT } from '../../core/exit-codes.ts'
import type { Diagnosis, MachineFinding } from '../../jobs/doctor.ts'
import { type JsonOption, jsonOption, readLakeAddress, withExamples } from '../options/options.ts'
import { printJson, printLines } from '../output/print.ts'

interface DoctorFlags extends JsonOption {
  readonly lake?: string
}

export const addDoctor = (program: Command): void => {
  const command = program
    .command('doctor')
    .summary('say what this machine has, and what is missing for what')
    .description(
      'Says what this machine has (Node, memory, disks, DuckDB, optional packages, variables of credentials by their names) ' +
        'and what is missing for what, with the line that mends it; with --lake also how the lake stands. Asks no network ' +
        'but for a bucket that is named. Ends with 1 where something is missing that the core needs.',
    )
    .addOption(
      new Option('--lake <folder>', 'look at this lake too: a folder, or s3://bucket/prefix').argParser(
        (text) => readLakeAddress(text, '--lake'),
      ),
    )
    .addOption(jsonOption())
    .action(runDoctor)
  withExamples(command, [
    ['doctor', 'what is there, and what is missing'],
    ['doctor --lake ./lake', 'the lake and its disk too'],
  ])
}

const runDoctor = async ({ lake, json }: DoctorFlags): Promise<void> => {
  const { doctor } = await import('../../jobs/doctor.ts')
  const diagnosis = await doctor({ lake })
  await (json ? printJson(diagnosis) : printLines(linesOf(diagnosis)))
  if (!diagnosis.well) process.exitCode = EXIT.failed
}

const SIGNS: Readonly<Record<MachineFinding['state'], string>> = {
  well: 'ok',
  absent: '--',
  missing: 'MISSING',
}

const linesOf = ({ well, findings, variables }: Diagnosis): string[] => [
  ...findings.flatMap(({ about, state, says, mend }) => [
    `${SIGNS[state].padEnd(8)}${about.padEnd(11)}${says}`,
    ...(mend === undefined ? [] : [`${' '.repeat(19)}→ ${mend}`]),
  ]),
  `${'ok'.padEnd(8)}${'variables'.padEnd(11)}${variables.length > 0 ? `set: ${variables.join(', ')}` : 'none is set'}`,
  well ? 'The core has all it needs.' : 'Something is missing that the core needs.',
]
