/** Lists the objects of a bucket page by page. */

import type { ListedObject, ListOptions } from '../object-store.ts'
import { hasBadSegment, notOfLake } from '../store-paths.ts'
import { keyPrefix, pathOfKey } from './s3-address.ts'
import type { S3Connection } from './s3-connection.ts'

export const listObjects = async function* (
  connection: S3Connection,
  prefix: string,
  { folders = false, pageSize }: ListOptions = {},
): AsyncGenerator<ListedObject> {
  const { address } = connection
  if (prefix !== '' && hasBadSegment(prefix.replace(/\/$/, ''))) throw notOfLake(address, prefix)
  const Prefix = keyPrefix(address, prefix)
  const asked = {
    ...{ Bucket: address.bucket, Prefix },
    ...(folders && { Delimiter: '/' }),
    ...(pageSize !== undefined && { MaxKeys: pageSize }),
  }
  let token: string | undefined
  do {
    const ContinuationToken = token
    const {
      Contents = [],
      CommonPrefixes = [],
      ...page
    } = await connection.run(
      `Cannot list "s3://${address.bucket}/${Prefix}" of lake "${address.uri}"`,
      ({ sdk, client }) => client.send(new sdk.ListObjectsV2Command({ ...asked, ContinuationToken })),
    )
    for (const { Key = '', Size = 0, LastModified } of Contents)
      yield { path: pathOfKey(address, Key), bytes: Size, changedMs: LastModified?.getTime() ?? 0 }
    for (const { Prefix: Folder = '' } of CommonPrefixes)
      yield { path: pathOfKey(address, Folder), bytes: 0, changedMs: 0 }
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
}
