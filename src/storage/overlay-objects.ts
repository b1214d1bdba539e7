/** Objects over others that stay as they are: what is written, and what is removed, is so above them alone. */

import type { ListedObject, ObjectStore } from './object-store.ts'

/** @param above takes what is written @param below is read only */
export const overlayObjects = (
  above: ObjectStore,
  below: Pick<ObjectStore, 'head' | 'get' | 'list'>,
): ObjectStore => {
  /** Objects of below that are removed. */
  const removed = new Set<string>()
  return {
    address: above.address,
    head: async (path) => (await above.head(path)) ?? (removed.has(path) ? null : below.head(path)),
    get: async (path, options) =>
      (await above.get(path, options)) ?? (removed.has(path) ? null : below.get(path, options)),
    put: (path, data) => above.put(path, data),
    putIfAbsent: async (path, data) =>
      !removed.has(path) && (await below.head(path)) !== null ? false : above.putIfAbsent(path, data),
    putFile: (from, facts) => above.putFile(from, facts),
    list: async function* (prefix, options): AsyncGenerator<ListedObject> {
      const met = new Set<string>()
      for await (const one of above.list(prefix, options)) {
        met.add(one.path)
        yield one
      }
      for await (const one of below.list(prefix, options))
        if (!met.has(one.path) && !removed.has(one.path)) yield one
    },
    delete: async (paths) => {
      await above.delete(paths)
      for (const path of paths) removed.add(path)
    },
  }
}
