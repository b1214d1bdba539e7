/** Addresses of lakes in a bucket, the keys of their objects, and the work folder of each on this machine. */

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { sha256Of } from '../support/hash.ts'

/** A place in a bucket. */
export interface S3Address {
  readonly bucket: string
  /** Without a slash at either end; empty where the lake is the whole bucket. */
  readonly prefix: string
  /** `s3://bucket/prefix`, without a slash at its end. */
  readonly uri: string
}

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/
const MOST_KEY_BYTES = 1024

const hasBadSegment = (path: string): boolean =>
  path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')

const unusable = (address: string, wanted: string): ToolkitError =>
  new ToolkitError('USAGE', `Cannot use "${address}" as a lake: expected ${wanted}`)

/** @throws {ToolkitError} `USAGE` for an address that names no place in a bucket */
export const parseS3Address = (address: string): S3Address => {
  const rest = /^s3:\/\/(.*)$/is.exec(address)?.[1]?.replace(/\/+$/, '')
  if (rest === undefined) throw unusable(address, 's3://bucket/prefix')
  const [bucket = '', ...segments] = rest.split('/')
  // What stands before an @ may be a secret: the message must not repeat it.
  if (!BUCKET.test(bucket) && rest.includes('@'))
    throw unusable('s3://…', 's3://bucket/prefix, and the credentials in the environment')
  if (!BUCKET.test(bucket)) throw unusable(address, 'the name of a bucket after s3://')
  const prefix = segments.join('/')
  if (/[?#\0\\]/.test(prefix)) throw unusable(address, 'a prefix without "?", "#" and backslashes')
  if (prefix !== '' && hasBadSegment(prefix))
    throw unusable(address, 'a prefix without empty parts, "." and ".."')
  return { bucket, prefix, uri: prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}` }
}

/**
 * The key of a path of the lake.
 *
 * @throws {ToolkitError} `LAKE_DAMAGED` for a path that leaves the lake: such as this come from a forged snapshot
 */
export const keyOf = ({ prefix, uri }: S3Address, path: string): string => {
  const key = prefix === '' ? path : `${prefix}/${path}`
  // One slash at the end is that of a folder's marker.
  if (
    hasBadSegment(path.replace(/\/$/, '')) ||
    /[\0\\]/.test(path) ||
    Buffer.byteLength(key) > MOST_KEY_BYTES
  )
    throw new ToolkitError('LAKE_DAMAGED', `Cannot use path "${path}" of "${uri}": it is not one of a lake`, {
      path,
    })
  return key
}

/** What all keys below a folder begin with; `''` is the whole lake. */
export const keysBelow = (address: S3Address, folder: string): string => {
  if (folder !== '') return `${keyOf(address, folder)}/`
  return address.prefix === '' ? '' : `${address.prefix}/`
}

/** The path of a key that begins with the lake's prefix. */
export const pathOfKey = ({ prefix }: S3Address, key: string): string =>
  prefix === '' ? key : key.slice(prefix.length + 1)

/**
 * The lake's work folder on this machine, below `FIRMLAKE_WORK_DIR` or the user's cache folder. Its name tells the
 * bucket; its hash keeps apart buckets of one name at two endpoints. An endpoint that only a profile names is not
 * known without reading that, so the profile's name stands for it.
 */
export const workFolder = ({ uri }: S3Address, env: NodeJS.ProcessEnv): string => {
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL
  const source = endpoint ?? JSON.stringify([env.AWS_CONFIG_FILE, env.AWS_PROFILE])
  const readable = uri
    .slice('s3://'.length)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 60)
  const name = `${readable}-${sha256Of(`${source}\n${uri}`).slice(0, 16)}`
  return resolve(workBase(env), name)
}

/** Where firmlake keeps what belongs to this machine and user alone. */
export const workBase = (env: NodeJS.ProcessEnv): string =>
  env.FIRMLAKE_WORK_DIR || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'firmlake')
