/** Walks the tree that `json_serialize_sql` makes of a statement. */

import { isObject, type JsonObject } from '../../support/json-form.ts'

/** The objects of a tree. @param isPassedOver objects that are left out with all that is in them @default none */
export function* nodesOf(
  tree: unknown,
  isPassedOver: (node: JsonObject) => boolean = () => false,
): Generator<JsonObject> {
  const left = [tree]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one !== 'object' || one === null) continue
    if (isObject(one)) {
      if (isPassedOver(one)) continue
      yield one
    }
    for (const part of Object.values(one)) left.push(part)
  }
}

/** The parts of a node under a name; none where it has no list there. */
export const listAt = (node: JsonObject, name: string): readonly unknown[] => {
  const found = node[name]
  return Array.isArray(found) ? found : []
}

/** The text of a node that is a constant. */
export const constantText = (node: unknown): string | undefined => {
  if (!isObject(node) || node.class !== 'CONSTANT' || !isObject(node.value)) return undefined
  const { value } = node.value
  return typeof value === 'string' ? value : undefined
}

/** The texts of a node that is a constant, or a list of such. */
export const constantStrings = (node: unknown): readonly string[] | undefined => {
  const isList = isObject(node) && (node.function_name === 'list_value' || node.type === 'ARRAY_CONSTRUCTOR')
  const strings = (isList ? listAt(node, 'children') : [node]).map(constantText)
  return strings.every((text) => text !== undefined) ? strings : undefined
}

/** The name of a table with its schema, as DuckDB takes it for a file where there is no such table. */
export const tableName = (node: JsonObject): string | undefined =>
  node.type === 'BASE_TABLE'
    ? [node.catalog_name, node.schema_name, node.table_name].filter((part) => part !== '').join('.')
    : undefined
