/** Values against the schemas of an OpenAPI document, by the few keywords that ours uses. */

export interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
interface Operation {
  readonly operationId: string
  readonly responses?: Readonly<
    Record<number, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>
  >
}
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly anyOf?: readonly Schema[]
  readonly const?: unknown
  readonly minItems?: number
  readonly default?: unknown
}

/** What is wrong with a value by its schema; the few keywords that the document uses. */
export const problems = (
  schemas: Document['components']['schemas'],
  schema: Schema,
  value: unknown,
  at = '',
): string[] => {
  if (schema.$ref) {
    const named = schemas[schema.$ref.split('/').at(-1) ?? '']
    return named ? problems(schemas, named, value, at) : [`${at}: no schema ${schema.$ref}`]
  }
  if (schema.anyOf)
    return schema.anyOf.some((one) => problems(schemas, one, value, at).length === 0)
      ? []
      : [`${at}: none fits`]
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  const types = [schema.type ?? type].flat().map((one) => (one === 'integer' ? 'number' : one))
  if (!types.includes(type)) return [`${at}: ${type}`]
  if (schema.const !== undefined && value !== schema.const) return [`${at}: ${JSON.stringify(value)}`]
  if (Array.isArray(value))
    return value.flatMap((one, no) => problems(schemas, schema.items ?? {}, one, `${at}[${no}]`))
  if (typeof value !== 'object' || value === null) return []
  return [
    ...(schema.required ?? []).flatMap((name) => (name in value ? [] : [`${at}.${name}: missing`])),
    ...Object.entries(value).flatMap(([name, one]) => {
      const inner = schema.properties?.[name] ?? schema.additionalProperties
      return inner ? problems(schemas, inner, one, `${at}.${name}`) : [`${at}.${name}: unknown`]
    }),
  ]
}
