/**
 * The definition of `firmlake.toml` put to use: reading the tree of a file, every fault with its line and key and never a value
 * that may be a secret, and the JSON Schema by which editors complete and check it.
 */

import { ToolkitError } from '../core/errors.ts'
import type { JsonSchema } from '../options/value-types.ts'
import { nearestName } from '../support/nearest-name.ts'
import { DEFINITION, type FileSettings } from './definition.ts'
import type { ConfigField, FieldsOf, Setting } from './setting-types.ts'
import { parseToml, type TomlNode, type TomlTable } from './toml-tree.ts'

/** A setting that stands in the file. */
export interface FoundSetting {
  /** `service.url`; of a list `pull[0].name`. */
  readonly key: string
  readonly line: number
  /** The section's name; absent of one that stands at the top. */
  readonly section?: string | undefined
  readonly setting: Setting<unknown>
  /** As it stands there; a path is that from the file's folder. */
  readonly given: unknown
}

export interface ConfigFile {
  readonly path: string
  readonly settings: FileSettings
  readonly found: readonly FoundSetting[]
}

interface Problem {
  readonly line: number
  readonly key: string
  readonly reason: string
}

const SECRET = /token|secret|password|passwd|credential|api_?key/i
/** `scheme://user:password@…`, also behind `csv:` and the like. */
const PASSWORD_IN_ADDRESS = /:\/\/[^/\s]*:[^/\s]*@|[?&](password|token|secret)=/i

const plainOf = (node: TomlNode): unknown => {
  if (node.kind === 'value') return node.value
  if (node.kind === 'list') return node.items.map(plainOf)
  return Object.fromEntries([...node.entries].map(([name, entry]) => [name, plainOf(entry.node)]))
}

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

const WHAT = { value: 'a value', list: 'a list', table: 'a table' } as const

class Reader {
  readonly problems: Problem[] = []
  readonly found: FoundSetting[] = []
  readonly #folder: string
  constructor(folder: string) {
    this.#folder = folder
  }

  readTable(fields: FieldsOf, node: TomlTable, within: string): Readonly<Record<string, unknown>> {
    const read: [string, unknown][] = []
    const prefix = within === '' ? '' : `${within}.`
    for (const [name, { line, node: value }] of node.entries) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (field === undefined) this.#unknown(fields, name, { line, key: `${prefix}${name}` })
      else read.push([name, this.#readField(field, value, { line, key: `${prefix}${name}` }, name)])
    }
    for (const [name, field] of Object.entries(fields)) {
      if (field.kind !== 'setting' || node.entries.has(name)) continue
      const { line } = node
      if (field.required)
        this.#say({ line, key: within }, `"${name}" is missing, expected ${field.type.expected}`)
      if (field.withSection !== undefined) {
        const value: TomlNode = { kind: 'value', value: field.withSection, line }
        read.push([name, this.#readSetting(field, value, { line, key: `${prefix}${name}` })])
      }
    }
    return Object.fromEntries(read)
  }

  #say({ line, key }: Omit<Problem, 'reason'>, reason: string): undefined {
    this.problems.push({ line, key, reason })
  }

  #unknown(fields: FieldsOf, name: string, at: Omit<Problem, 'reason'>): void {
    const names = Object.keys(fields)
    const near = names.find((one) => one === `${name}_env`) ?? nearestName(name, names)
    if (SECRET.test(name) && (near === undefined || near.endsWith('_env'))) {
      const how = near === undefined ? 'an environment variable' : `${near} = "NAME_OF_A_VARIABLE"`
      this.#say(at, `a secret does not stand in this file, expected ${how}`)
    } else
      this.#say(at, `there is no such key, expected ${near === undefined ? names.join(', ') : `"${near}"`}`)
  }

  #readField(field: ConfigField, node: TomlNode, at: Omit<Problem, 'reason'>, section: string): unknown {
    if (field.kind === 'setting') return this.#readSetting(field, node, at)
    if (field.kind === 'table') {
      if (node.kind === 'table') return this.readTable(field.fields, node, at.key)
      return this.#say(at, `it is ${WHAT[node.kind]}, expected a table, [${section}]`)
    }
    const items = node.kind === 'list' ? node.items : []
    const isTable = (item: TomlNode): item is TomlTable => item.kind === 'table'
    if (node.kind === 'list' && items.every(isTable))
      return items.map((item, place) => this.readTable(field.fields, item, `${at.key}[${place}]`))
    return this.#say(at, `it is ${WHAT[node.kind]}, expected [[${section}]]`)
  }

  #readSetting(setting: Setting<unknown>, node: TomlNode, at: Omit<Problem, 'reason'>): unknown {
    const plain = plainOf(node)
    if (stringsIn(plain).some((one) => PASSWORD_IN_ADDRESS.test(one)))
      return this.#say(at, 'a password does not stand in this file, expected an address without it')
    const { type } = setting
    const given = type.inFolder?.(plain, this.#folder) ?? plain
    const value = type.read(given)
    if (value === undefined) {
      const shown =
        type.hidden || node.kind !== 'value' ? 'it is something else' : `it is ${JSON.stringify(plain)}`
      return this.#say(at, `${shown}, expected ${type.expected}`)
    }
    const section = at.key.includes('.') ? at.key.replace(/[.[].*/s, '') : undefined
    this.found.push({ ...at, section, setting, given })
    return value
  }
}

/** Names are what results and messages tell parts by. */
const checkNames = (settings: FileSettings, reader: Reader): void => {
  const { pull = [], sync = [], batch_files = [], files = [] } = settings
  const names = [...pull, ...sync, ...batch_files, ...files].map(({ name }) => name)
  for (const one of reader.found.filter(({ key }) => key.endsWith('].name')))
    if (names.indexOf(String(one.given)) !== names.lastIndexOf(String(one.given)))
      reader.problems.push({
        ...{ line: one.line, key: one.key },
        reason: `another part has the name ${JSON.stringify(one.given)} too, expected one of its own`,
      })
}

/** A file as it was read. */
interface ReadFile {
  /** With a fault only what is sound: enough to alarm somebody, never to work by. */
  readonly file: ConfigFile
  /** CONFIG_INVALID with every fault, a line each. */
  readonly fault: ToolkitError | undefined
}

/**
 * Reads the text of a file.
 *
 * @param folder what paths in it are relative to
 * @throws {ToolkitError} CONFIG_INVALID where it is no TOML, so that nothing of it is known
 */
export const readSoundSettings = (text: string, path: string, folder: string): ReadFile => {
  const reader = new Reader(folder)
  // A value that does not fit its type is a problem, and undefined here.
  const settings = reader.readTable(DEFINITION, parseToml(text, path), '') as FileSettings
  if (reader.problems.length === 0) checkNames(settings, reader)
  const { problems } = reader
  const [first] = [...problems].sort((a, b) => a.line - b.line)
  const file = { path, settings, found: reader.found }
  if (first === undefined) return { file, fault: undefined }
  const lines = [...problems]
    .sort((a, b) => a.line - b.line)
    .map(({ line, key, reason }) => `line ${line}: ${key}: ${reason}`)
  const fault = new ToolkitError('CONFIG_INVALID', `Cannot use "${path}": ${lines.join('\n')}`, {
    ...{ path, line: first.line, key: first.key, problems: problems.length },
  })
  return { file, fault }
}

/** The same of a file that is to be worked by. @throws {ToolkitError} CONFIG_INVALID with every fault, a line each */
export const readSettings = (text: string, path: string, folder: string): ConfigFile => {
  const { file, fault } = readSoundSettings(text, path, folder)
  if (fault !== undefined) throw fault
  return file
}

const schemaOf = (field: ConfigField): JsonSchema => {
  if (field.kind === 'setting') {
    const { about, type } = field
    const described = field.default === undefined ? about : `${about} (default: ${field.default})`
    return { description: described, ...type.schema }
  }
  const object = objectOf(field.fields)
  const { about: description } = field
  return field.kind === 'table' ? { description, ...object } : { description, type: 'array', items: object }
}

const objectOf = (fields: FieldsOf): JsonSchema => {
  const needed = Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'setting' && field.required ? [name] : [],
  )
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)])),
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  }
}

export const configSchema = (): JsonSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'firmlake.toml',
  ...objectOf(DEFINITION),
})
