/** Whether a lake lies in one of some places: folders, or beginnings of addresses in a bucket. */

import { realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import { openStore } from './open-storage.ts'

/** An address in a bucket with one slash at its end; a name cannot step out of what it begins with. */
const prefixOf = (address: string): string | undefined => {
  const store = openStore(address)
  return store && `${store.address.uri}/`
}

const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../')
}

/**
 * Whether a lake is one of these places or lies in one, links followed.
 *
 * @param places folders, or `s3://bucket/prefix`, of which a prefix ends at a slash
 */
export const liesIn = async (lake: string, places: readonly string[]): Promise<boolean> => {
  const address = prefixOf(lake)
  for (const place of places) {
    const prefix = prefixOf(place)
    if (address !== undefined || prefix !== undefined) {
      if (address !== undefined && prefix !== undefined && address.startsWith(prefix)) return true
      continue
    }
    try {
      if (isBelow(await realpath(place), await realpath(lake))) return true
    } catch {
      // No lake lies in a folder that is not there.
    }
  }
  return false
}
