/** The tree that `json_serialize_sql` makes of a statement. */

import { isObject, type JsonObject } from '../../support/json-form.ts'

/** All objects of a tree. @param isPassedOver objects that are left out with all that is in them @default none */
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
