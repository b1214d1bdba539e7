/** A command from the table of its options. */

import { Argument, type Command, Option } from 'commander'
import { ToolkitError } from '../core/errors.ts'
import { type Entry, flagOf, type OptionTable, type ValuesOf } from '../options/entry.ts'
import { PARTITIONS } from '../options/lake-jobs.ts'
import { makeRoomInPool } from '../options/value-types.ts'
import { machineLimits } from '../support/machine-limits.ts'
import { LAKE_HERE } from './config/loaded-config.ts'
import { withExamples } from './help.ts'

export interface CommandDeclaration<Options extends OptionTable> {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly options: Options
  readonly examples: readonly (readonly [line: string, about: string])[]
  readonly run: (values: ValuesOf<Options>, command: Command) => Promise<void>
}

/** The words of an option's help: what it is, and what counts without it. */
const aboutOf = ({ about, no, otherwise }: Entry): string =>
  otherwise === undefined
    ? (no ?? about)
    : `${about} (default: ${otherwise})`.replace('(repeatable) (', '(repeatable; ')

/** Reads one argument. @throws {ToolkitError} USAGE naming the option as it is written */
const reader =
  (long: string, { type }: Entry) =>
  (text: string, before?: unknown): unknown => {
    const value = type.parse(text)
    if (value === undefined)
      throw new ToolkitError(
        'USAGE',
        `Cannot read ${long}${type.hidden ? '' : ` "${text}"`}: expected ${(type.many ?? type).expected}`,
      )
    return type.many && Array.isArray(value) ? [...(Array.isArray(before) ? before : []), ...value] : value
  }

/** A variable that is set to nothing is none. */
const lakeOf = (one: Option, about: string, variable: string): Option => {
  if (process.env[variable]) return one.env(variable)
  one.description = `${about} (or ${variable}; else ${LAKE_HERE})`
  return one
}

/** An option of the command line. */
export const optionOf = (name: string, entry: Entry): Option => {
  const { type, flag = '', conflicts, implies, required, variable } = entry
  const long = flagOf(name, entry)
  const short = flag.startsWith('--') ? '' : flag.slice(0, Math.max(0, flag.indexOf('--')))
  const one = new Option(
    `${short}${long}${type.argument === undefined ? '' : ` ${type.argument}`}`,
    aboutOf(entry),
  )
  if (type.choices) one.choices(type.choices)
  else if (type.argument !== undefined) one.argParser(reader(long, entry))
  const { value, text } = entry.default ?? {}
  // Commander writes a text in quotes by itself.
  if (value !== undefined && !one.negate) one.default(value, String(value) === text ? undefined : text)
  if (conflicts !== undefined) one.conflicts(conflicts)
  if (implies !== undefined) one.implies({ ...implies })
  if (required) one.makeOptionMandatory()
  return name === 'lake' && variable !== undefined ? lakeOf(one, entry.about, variable) : one
}

/** The options of the command line in a table, by their names. */
export const optionsOf = (options: OptionTable): readonly (readonly [name: string, option: Option])[] =>
  Object.entries(options).flatMap(([name, entry]) =>
    entry.only === 'calls' || entry.argument !== undefined ? [] : [[name, optionOf(name, entry)] as const],
  )

const argumentOf = (entry: Entry): Argument => {
  const { argument = '', about, type, default: otherwise } = entry
  const one = new Argument(argument, about).default(otherwise?.value)
  return type.choices ? one.choices(type.choices) : one.argParser(reader(argument, entry))
}

export const addCommand = <Options extends OptionTable>(
  program: Command,
  { name, summary, description, options, examples, run }: CommandDeclaration<Options>,
): Command => {
  const command = program.command(name).summary(summary).description(description)
  const positional = Object.entries<Entry>(options).filter(([, { argument }]) => argument !== undefined)
  for (const [, entry] of positional) command.addArgument(argumentOf(entry))
  const made = optionsOf(options)
  for (const [, one] of made) command.addOption(one)
  // Before anything uses Node's pool.
  if (options.threads === PARTITIONS) makeRoomInPool(machineLimits().cpus)
  command.action(async () => {
    const given = command.opts<Readonly<Record<string, unknown>>>()
    const values = [
      ...positional.map(([entry], at) => [entry, command.processedArgs[at] as unknown] as const),
      // The value of `--no-…` is the contrary of an entry that says the same as the option.
      ...made.map(([entry, one]) => {
        const value = given[one.attributeName()]
        const isContrary = one.negate && options[entry]?.no === undefined
        return [entry, isContrary ? value === false || undefined : value] as const
      }),
    ]
    await run(Object.fromEntries(values) as ValuesOf<Options>, command)
  })
  return withExamples(command, examples)
}
