/**
 * What users rely on by name: commands with their options, keys of firmlake.toml, formats; a line each. The test of CHANGELOG.md
 * compares them with those of the last release, `etc/offered-before.txt`, which a release writes: `node docs/offered.ts --release`.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { newProgram } from '../src/cli/new-program.ts'
import { DEFINITION } from '../src/config/definition.ts'
import type { ConfigField } from '../src/config/setting-types.ts'
import { TABLE_FORMAT_NAMES } from '../src/core/table-formats.ts'
import { FORMAT } from '../src/manifest/form/root-form.ts'
import { FILE_FORMAT_NAMES } from '../src/sink/targets.ts'

export const BEFORE = join(import.meta.dirname, '../etc/offered-before.txt')

const commandLines = (command: Command, words: string): string[] => [
  `command ${words}`,
  ...command.options.map(({ flags, defaultValue }) => {
    const otherwise = defaultValue === undefined ? '' : ` = ${JSON.stringify(defaultValue)}`
    return `option ${words}: ${flags}${otherwise}`
  }),
  ...command.commands.flatMap((one) => commandLines(one, `${words} ${one.name()}`)),
]

const keyLines = ([name, field]: readonly [string, ConfigField], section: string): string[] => {
  if (field.kind !== 'setting')
    return Object.entries(field.fields).flatMap((one) => keyLines(one, `${section}${name}.`))
  const { type, default: otherwise } = field
  return [`key ${section}${name}: ${type.expected}${otherwise === undefined ? '' : ` = ${otherwise}`}`]
}

/** A line for each, sorted. */
export const offered = async (): Promise<readonly string[]> =>
  [
    ...commandLines(await newProgram(), 'firmlake'),
    ...Object.entries(DEFINITION).flatMap((one) => keyLines(one, '')),
    `format lake ${FORMAT}`,
    ...FILE_FORMAT_NAMES.map((name) => `format file ${name}`),
    ...TABLE_FORMAT_NAMES.map((name) => `format table ${name}`),
  ].sort()

if (process.argv[1] === import.meta.filename && process.argv.includes('--release'))
  writeFileSync(BEFORE, `${(await offered()).join('\n')}\n`)
