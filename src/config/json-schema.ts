/** The definition as a JSON Schema, by which editors complete and check `firmlake.toml`. */

import { DEFINITION } from './definition.ts'
import type { ConfigField, FieldsOf } from './fields.ts'
import type { JsonSchema } from './value-types.ts'

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
