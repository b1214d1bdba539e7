/**
 * Addresses of the places where a lake, a copy, files of a target or a report may stand: folders of this machine, and
 * prefixes of buckets. Which buckets there are says `optional-parts.ts`; `storage/open-storage.ts` opens them.
 */

import { dirname, resolve } from 'node:path'
import { BUCKET_SCHEMES, type BucketScheme } from './optional-parts.ts'

/** How addresses in buckets look, for messages and help texts: `s3://bucket/prefix`. */
export const BUCKET_FORM = BUCKET_SCHEMES.map((scheme) => `${scheme}://bucket/prefix`).join(' or ')

/** The kind of bucket that an address names, also with one slash, which is a typo; `undefined` of a folder. */
export const bucketScheme = (address: string): BucketScheme | undefined => {
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\/?/i.exec(address) ?? []
  return BUCKET_SCHEMES.find((one) => one === scheme.toLowerCase())
}

export const isBucket = (address: string): boolean => bucketScheme(address) !== undefined

/** The same place for a process in another folder. */
export const absoluteAddress = (address: string): string => (isBucket(address) ? address : resolve(address))

/** The folder or prefix that holds a file. */
export const folderOf = (address: string): string =>
  isBucket(address) ? address.replace(/\/[^/]*$/, '') : dirname(address)

/** `s3://bucket/a/b/` → `s3://bucket` and `a/b`; `undefined` of a folder. */
export const splitBucket = (
  address: string,
): { readonly bucket: string; readonly prefix: string } | undefined => {
  const [, bucket, prefix = ''] = /^([^/]+:\/\/[^/]+)\/?(.*?)\/*$/.exec(address) ?? []
  return bucket !== undefined && isBucket(address) ? { bucket, prefix } : undefined
}
