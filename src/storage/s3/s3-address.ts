/** Addresses of lakes in a bucket of S3, and the keys of their objects. */

import { Buffer } from 'node:buffer'
import { ToolkitError } from '../../core/errors.ts'
import { checkPath, hasBadSegment, notOfLake, type StoreAddress } from '../object-store.ts'

/** A place in a bucket. */
export interface S3Address extends StoreAddress {
  readonly bucket: string
  /** Without a slash at either end; empty where the lake is the whole bucket. */
  readonly prefix: string
}

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/
const MOST_KEY_BYTES = 1024

const unusable = (address: string, expected: string): ToolkitError =>
  new ToolkitError('USAGE', `Cannot use "${address}" as a lake: expected ${expected}`)

/**
 * Distinguishes buckets of one name at two endpoints. An endpoint that only a profile names is not known without
 * reading that, so the profile's name stands for it.
 */
const sourceOf = (env: NodeJS.ProcessEnv): string =>
  env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || JSON.stringify([env.AWS_CONFIG_FILE, env.AWS_PROFILE])

/** @throws {ToolkitError} `USAGE` for an address that names no place in a bucket */
export const parseS3Address = (address: string, env: NodeJS.ProcessEnv): S3Address => {
  const rest = /^s3:\/\/(.*)$/is.exec(address)?.[1]?.replace(/\/+$/, '')
  if (rest === undefined) throw unusable(address, 's3://bucket/prefix')
  const [bucket = '', ...segments] = rest.split('/')
  // Text before an @ may be a secret: the message must not repeat it.
  if (!BUCKET.test(bucket) && rest.includes('@'))
    throw unusable('s3://…', 's3://bucket/prefix, and the credentials in the environment')
  if (!BUCKET.test(bucket))
    throw unusable(
      address,
      'after s3:// a name of a bucket, of at least two letters, digits, ".", "_" and "-"',
    )
  const prefix = segments.join('/')
  if (/[?#\0\\]/.test(prefix)) throw unusable(address, 'a prefix without "?", "#" and backslashes')
  if (prefix !== '' && hasBadSegment(prefix))
    throw unusable(address, 'a prefix without empty parts, "." and ".."')
  const uri = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`
  return { bucket, prefix, uri, source: sourceOf(env) }
}

/** The key of a path of the lake. @throws {ToolkitError} `LAKE_DAMAGED` for one that leaves the lake or is too long */
export const keyOf = (address: S3Address, path: string): string => {
  checkPath(address, path)
  const key = keyPrefix(address, path)
  if (Buffer.byteLength(key) > MOST_KEY_BYTES) throw notOfLake(address, path)
  return key
}

/** The beginning of the keys of all paths that begin with a text. */
export const keyPrefix = ({ prefix }: S3Address, path: string): string =>
  prefix === '' ? path : `${prefix}/${path}`

/** The path of a key that begins with the lake's prefix. */
export const pathOfKey = ({ prefix }: S3Address, key: string): string =>
  prefix === '' ? key : key.slice(prefix.length + 1)
