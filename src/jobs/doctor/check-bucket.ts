/** Whether a lake or a target can live in a bucket: one small object of an own name is created, read and removed again. */

import { randomUUID } from 'node:crypto'
import { ToolkitError } from '../../core/errors.ts'
import { nameOf, type ObjectStore } from '../../storage/object-store.ts'
import { openStore } from '../../storage/open-storage.ts'
import { readWhole } from '../../storage/read-object.ts'
import { type MachineFinding, withinTime } from './finding.ts'

const ATTEMPTS = 2
const BYTES = Buffer.from('Written by "firmlake doctor --online", which removes it again.\n')

const tryObject = async (store: ObjectStore, path: string): Promise<void> => {
  if (await store.putIfAbsent(path, BYTES))
    throw new ToolkitError(
      'STORAGE_REFUSED',
      `Cannot use "${store.address.uri}" for a lake: the endpoint ignores If-None-Match, which keeps runs from overwriting each other's commits`,
    )
  const read = await readWhole(store, path)
  if (read === null || !BYTES.equals(read))
    throw new ToolkitError(
      'STORAGE_FAILED',
      `Cannot read "${nameOf(store, path)}": not what was written there`,
    )
}

/** @returns what is said, where it could not be removed */
const remove = async (store: ObjectStore, path: string, limitMs: number): Promise<string> => {
  const { state, says } = await withinTime('bucket', limitMs, async () => {
    await store.delete([path])
    return ''
  })
  return state === 'well' ? '' : `"${nameOf(store, path)}" could not be removed: ${says}`
}

/** Lists, creates, reads and removes. @param limitMs of all that, and once more of the removal */
export const checkBucket = async (address: string, limitMs: number): Promise<MachineFinding> => {
  const path = `.firmlake-doctor-${randomUUID()}`
  let store: ObjectStore | undefined
  // An answer that did not come says nothing about the object.
  let isTried = false
  const found = await withinTime('bucket', limitMs, async (signal) => {
    store = openStore(address, { attempts: ATTEMPTS, silenceMs: limitMs * 0.4 })
    if (store === undefined) throw new TypeError(`Cannot try "${address}": expected the address of a bucket`)
    for await (const _ of store.list('', { pageSize: 1 })) break
    // Given up meanwhile: what is written now would stay.
    signal.throwIfAborted()
    isTried = true
    await store.putIfAbsent(path, BYTES).catch((error: unknown) => {
      if (error instanceof ToolkitError && error.code === 'STORAGE_REFUSED') isTried = false
      throw error
    })
    await tryObject(store, path)
    return `"${store.address.uri}" is listed, written and read`
  })
  const left = store !== undefined && isTried ? await remove(store, path, limitMs) : ''
  if (left === '') return found.state === 'well' ? { ...found, says: `${found.says}, and deleted` } : found
  return { about: 'bucket', state: 'missing', says: `${found.says}; ${left}` }
}
