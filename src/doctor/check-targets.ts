/** The buckets, database servers and optional parts that a lake and its targets need, by their addresses, and whether they answer. */

import { randomUUID } from 'node:crypto'
import { ToolkitError } from '../core/errors.ts'
import { bucketScheme, isBucket } from '../core/lake-address.ts'
import type { OptionalPartName } from '../core/optional-parts.ts'
import type { DatabaseSink, DatabaseTarget } from '../sink/database-target.ts'
import { DATABASES, type DatabaseName } from '../sink/targets.ts'
import { nameOf, type ObjectStore } from '../storage/object-store.ts'
import { openStore } from '../storage/open-storage.ts'
import { readWhole } from '../storage/read-object.ts'
import { readAddress, type TargetAddress } from '../targets/open-sink.ts'
import { type MachineFinding, withinTime } from './finding.ts'

/** The needs of the configuration. */
export interface Needs {
  readonly buckets: readonly string[]
  readonly servers: readonly Server[]
  readonly parts: ReadonlySet<OptionalPartName>
}

interface Server {
  readonly at: string
  readonly part: DatabaseTarget['part']
  readonly database: DatabaseName
}

/** The server that an address names. */
const serverOf = (address: TargetAddress): readonly Server[] => {
  if (address.kind !== 'database') return []
  const { at, database } = address
  const { isFile, part }: DatabaseTarget = DATABASES[database]
  return isFile ? [] : [{ at, part, database }]
}

/** @param sinks addresses as `--sink` takes them @throws {ToolkitError} `TARGET_REFUSED` for an address that is none */
export const needsOf = (lake: string | undefined, sinks: readonly string[]): Needs => {
  const addresses = sinks.map(readAddress)
  const servers = addresses.flatMap(serverOf)
  const places = [lake ?? [], ...addresses.map((one) => (one.kind === 'folder' ? one.directory : []))].flat()
  const buckets = places.filter(isBucket)
  return {
    ...{ buckets, servers },
    parts: new Set([
      ...buckets.flatMap((address) => bucketScheme(address) ?? []),
      ...servers.flatMap(({ part }) => part ?? []),
    ]),
  }
}

/** Connects, and changes nothing. */
export const askServer = ({ at, database }: Server, limitMs: number): Promise<MachineFinding> =>
  withinTime('database', limitMs, async () => {
    const { probe }: DatabaseSink = await DATABASES[database].load()
    return (await probe?.(at, limitMs * 0.8)) ?? ''
  })

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
    store = await openStore(address, { attempts: ATTEMPTS, silenceMs: limitMs * 0.4 })
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
