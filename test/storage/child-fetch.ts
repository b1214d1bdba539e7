/** Fetches files of a bucket as another process would: the address and their facts are its arguments. */

import { s3Storage } from '../../src/storage/s3-storage.ts'
import type { FileFacts } from '../../src/storage/storage.ts'

const [address = '', list = '[]'] = process.argv.slice(2)
const files: readonly FileFacts[] = JSON.parse(list)
await s3Storage(address).fetch(files)
console.log('fetched')
