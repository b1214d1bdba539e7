/** Removes objects, many with one request where the endpoint knows that. */

import type { S3Connection } from './s3-connection.ts'
import { isAbsent, isUnknownOperation } from './storage-error.ts'

/** The most that `DeleteObjects` takes. */
const DELETE_AT_ONCE = 1000

const deleteOne = (connection: S3Connection, path: string): Promise<void> => {
  const at = connection.at(path)
  return connection.run(`Cannot remove "${connection.name(path)}"`, async ({ sdk, client }) => {
    try {
      await client.send(new sdk.DeleteObjectCommand(at))
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
  })
}

/** @returns those that were not removed */
const deleteBatch = (connection: S3Connection, paths: readonly string[]): Promise<readonly string[]> => {
  const byKey = new Map(paths.map((path) => [connection.at(path).Key, path]))
  const Objects = [...byKey.keys()].map((Key) => ({ Key }))
  return connection.run(`Cannot remove files of "${connection.address.uri}"`, async ({ sdk, client }) => {
    try {
      const command = { Bucket: connection.address.bucket, Delete: { Objects, Quiet: true } }
      const { Errors = [] } = await client.send(new sdk.DeleteObjectsCommand(command))
      return Errors.flatMap(({ Key = '' }) => byKey.get(Key) ?? [])
    } catch (error) {
      if (isUnknownOperation(error)) return paths
      throw error
    }
  })
}

/** Removes objects; such as are gone already are fine. Those of one request go in any order. */
export const deleteObjects = async (connection: S3Connection, paths: readonly string[]): Promise<void> => {
  for (let from = 0; from < paths.length; from += DELETE_AT_ONCE) {
    const some = paths.slice(from, from + DELETE_AT_ONCE)
    // What a request for many left is retried one by one, which also shows what is wrong with it.
    const left = some.length > 1 ? await deleteBatch(connection, some) : some
    for (const path of left) await deleteOne(connection, path)
  }
}
