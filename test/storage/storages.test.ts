/** Every storage passes the same suite. */

import { join } from 'node:path'
import { bucketStorage } from '../../src/storage/bucket-storage.ts'
import { folderStorage } from '../../src/storage/folder-storage.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
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
    stubEnvironment({ FIRMLAKE_WORK_DIR: await temporaryFolder() })
    const bucket: MemoryBucket = new Map()
    return { open: () => bucketStorage('memory://lakes', memoryStore('lakes', bucket)) }
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
