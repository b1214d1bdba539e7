/** Every storage passes the same suite. */

import { join } from 'node:path'
import { folderStorage } from '../../src/storage/folder-storage.ts'
import { s3Storage } from '../../src/storage/s3-storage.ts'
import { s3Environment, startS3Server, stubEnvironment } from '../support/s3-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeStorage } from './describe-storage.ts'

describeStorage('folder', {
  make: async () => {
    const folder = join(await temporaryFolder(), 'lake')
    return { open: () => folderStorage(folder) }
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
      return { open: () => s3Storage(address) }
    },
  })
