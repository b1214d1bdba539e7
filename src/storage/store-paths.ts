/** Paths of a lake in a bucket: which are none, and how messages name them. */

import { ToolkitError } from '../core/errors.ts'
import type { StoreAddress } from './object-store.ts'

export const hasBadSegment = (path: string): boolean =>
  path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')

export const notOfLake = ({ uri }: StoreAddress, path: string): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot use path "${path}" of "${uri}": it is not one of a lake`, { path })

/** @throws {ToolkitError} `LAKE_DAMAGED` for a path that leaves the lake: such as this come from a forged snapshot */
export const checkPath = (address: StoreAddress, path: string): void => {
  // One slash at the end is that of a folder's marker.
  if (hasBadSegment(path.replace(/\/$/, '')) || /[\0\\]/.test(path)) throw notOfLake(address, path)
}

/** `s3://bucket/prefix/path`, as messages name an object. */
export const nameOf = ({ address }: { readonly address: StoreAddress }, path: string): string =>
  `${address.uri}/${path}`

/** Of an object that is read in several requests. @param name as `nameOf` gives it */
export const replacedObject = (name: string, path: string): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot read "${name}": it was replaced while it was read`, { path })
