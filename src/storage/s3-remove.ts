/** Removes objects, many with one request where the endpoint knows that. */

import { isAbsent, isUnknownOperation } from './s3-errors.ts'
import type { S3Objects } from './s3-objects.ts'

/** The most that `DeleteObjects` takes. */
const REMOVE_AT_ONCE = 1000

const removeOne = (objects: S3Objects, path: string): Promise<void> => {
  const at = objects.at(path)
  return objects.run(`Cannot remove "${objects.name(path)}"`, async ({ sdk, client }) => {
    try {
      await client.send(new sdk.DeleteObjectCommand(at))
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
  })
}

/** @returns those that were not removed */
const removeBatch = (objects: S3Objects, paths: readonly string[]): Promise<readonly string[]> => {
  const byKey = new Map(paths.map((path) => [objects.at(path).Key, path]))
  const Objects = [...byKey.keys()].map((Key) => ({ Key }))
  return objects.run(`Cannot remove files of "${objects.address.uri}"`, async ({ sdk, client }) => {
    try {
      const command = { Bucket: objects.address.bucket, Delete: { Objects, Quiet: true } }
      const { Errors = [] } = await client.send(new sdk.DeleteObjectsCommand(command))
      return Errors.flatMap(({ Key = '' }) => byKey.get(Key) ?? [])
    } catch (error) {
      if (isUnknownOperation(error)) return paths
      throw error
    }
  })
}

/** Removes objects; such as are gone already are fine. Those of one request go in any order. */
export const removeObjects = async (objects: S3Objects, paths: readonly string[]): Promise<void> => {
  for (let from = 0; from < paths.length; from += REMOVE_AT_ONCE) {
    const some = paths.slice(from, from + REMOVE_AT_ONCE)
    // What a request for many left is tried again one by one, or tells so what is wrong with it.
    const left = some.length > 1 ? await removeBatch(objects, some) : some
    for (const path of left) await removeOne(objects, path)
  }
}
