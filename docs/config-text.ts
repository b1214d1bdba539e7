/** `docs/reference/configuration.md`: every key of `firmlake.toml`, from its definition. */

import { DEFINITION } from '../src/config/definition.ts'
import type { ConfigField, FieldsOf, Setting } from '../src/config/setting-types.ts'
import { rows } from './markdown.ts'

const settingsOf = (fields: FieldsOf): readonly (readonly [string, Setting<unknown>])[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.kind === 'setting' ? [[name, field] as const] : [],
  )

const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``)

const tableOf = (fields: FieldsOf): string =>
  rows(
    ['key', 'meaning', 'expected', 'default', 'option', 'variable'],
    settingsOf(fields).map(
      ([name, { about, type, default: value = '', required, option, variable, names }]) => [
        `\`${name}\``,
        about,
        type.expected,
        required ? 'required' : value,
        code(option),
        code(variable ?? names),
      ],
    ),
  )

const sectionText = ([name, field]: readonly [string, ConfigField]): string => {
  if (field.kind === 'setting') return ''
  const title = field.kind === 'table' ? `[${name}]` : `[[${name}]]`
  return `## \`${title}\`\n\n${field.about}\n\n${tableOf(field.fields)}\n`
}

/** @param made says where the page comes from */
export const configText = (made: string): string => `# Settings of firmlake.toml

${made}

How the file is found and what takes precedence: [configuration.md](../configuration.md).

## At the top

${tableOf(DEFINITION)}

${Object.entries(DEFINITION).map(sectionText).filter(Boolean).join('\n')}`
