/** Keeps a file in a bucket and prints the most memory that this process took, in bytes. */

import { openStorage } from '../../src/storage/open-storage.ts'
import { hashFile } from '../../src/support/hash.ts'

const [address = '', from = ''] = process.argv.slice(2)
const { bytes, sha256 } = await hashFile(from)
await openStorage(address).stage(from, { path: 'companies/load=1/p-0.parquet', bytes, sha256 })
console.log(process.resourceUsage().maxRSS * 1024)
