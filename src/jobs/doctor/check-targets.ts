/** What the lake is delivered to, by the addresses that are configured: which folders, buckets, servers and parts that takes. */

import { dirname } from 'node:path'
import { bucketScheme, isBucket } from '../../core/lake-address.ts'
import type { OptionalPartName } from '../../core/optional-parts.ts'
import type { DatabaseSink, DatabaseTarget } from '../../sink/database-target.ts'
import { DATABASES, type DatabaseName } from '../../sink/targets.ts'
import { readAddress, type TargetAddress } from '../../targets/open-sink.ts'
import { asFinding, type MachineFinding, withinTime } from './finding.ts'

/** What is configured needs. */
export interface Needs {
  readonly folders: readonly string[]
  readonly buckets: readonly string[]
  readonly servers: readonly Server[]
  readonly parts: ReadonlySet<OptionalPartName>
  /** Addresses that are none. */
  readonly findings: readonly MachineFinding[]
}

interface Server {
  readonly at: string
  readonly part: DatabaseTarget['part']
  readonly database: DatabaseName
}

/** Folders and buckets that an address names, and the server. */
const placesOf = (address: TargetAddress): { readonly place?: string; readonly server?: Server } => {
  if (address.kind === 'folder') return { place: address.directory }
  if (address.kind === 'file') return { place: dirname(address.path) }
  const { at, database } = address
  const { isFile, part }: DatabaseTarget = DATABASES[database]
  return isFile ? { place: dirname(at) } : { server: { at, part, database } }
}

/** @param sinks addresses as `--sink` takes them */
export const needsOf = async (lake: string | undefined, sinks: readonly string[]): Promise<Needs> => {
  const places: string[] = lake === undefined ? [] : [lake]
  const servers: Server[] = []
  const findings: MachineFinding[] = []
  for (const sink of sinks) {
    const read = await asFinding('target', async () => {
      const { place, server } = placesOf(readAddress(sink))
      if (place !== undefined) places.push(place)
      if (server !== undefined) servers.push(server)
      return ''
    })
    if (read.state !== 'well') findings.push(read)
  }
  const buckets = places.filter(isBucket)
  return {
    folders: places.filter((place) => !isBucket(place)),
    ...{ buckets, servers, findings },
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
