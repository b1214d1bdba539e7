/** Every storage passes the same suite. */

import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { bucketStorage } from '../../src/storage/bucket-storage.ts'
import { folderStorage } from '../../src/storage/folder-storage.ts'
import type { ObjectStore } from '../../src/storage/object-store.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { s3Store } from '../../src/storage/s3/s3-store.ts'
import { s3Environment, startS3Server, stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeStorage } from './describe-storage.ts'
import { type MemoryBucket, memoryStore } from './memory-store.ts'

describeStorage('folder', {
  make: async () => {
    const folder = join(await temporaryFolder(), 'lake')
    return { open: () => folderStorage(folder) }
  },
})

describeStorage('bucket in memory', {
  make: async () => {
    const local = await temporaryFolder()
    const bucket: MemoryBucket = new Map()
    return { open: () => bucketStorage('memory://lakes', local, memoryStore('lakes', bucket)) }
  },
})

for (const [name, address] of [
  ['bucket', 's3://lakes'],
  ['prefix of a bucket', 's3://lakes/deep/pre fix/100%25/'],
] as const)
  describeStorage(name, {
    make: async (context) => {
      const server = await startS3Server(context)
      await server.makeBucket('lakes')
      stubEnvironment(s3Environment(server, await temporaryFolder()))
      return { open: () => openStorage(address) }
    },
  })

const RANGES = [
  { from: 0, to: 4 },
  { from: 2, to: 3 },
  { from: 6, to: 10 },
] as const

const givesRanges = async (store: ObjectStore): Promise<void> => {
  await store.put('a/b', Buffer.from('0123456789'))
  for (const range of RANGES) {
    const body = await store.get('a/b', { range })
    expect(String(body && (await buffer(body.stream)))).toBe('0123456789'.slice(range.from, range.to))
    expect(body?.bytes).toBe(10)
  }
  expect(await store.get('none', { range: RANGES[0] })).toBeNull()
}

test('a store in memory gives a range of an object, and its whole length', () =>
  givesRanges(memoryStore('lakes', new Map())))

test('a bucket gives a range of an object, and its whole length', async (context) => {
  const server = await startS3Server(context)
  await server.makeBucket('lakes')
  stubEnvironment(s3Environment(server, await temporaryFolder()))
  await givesRanges(s3Store('s3://lakes/deep'))
})
