/** Fetches files of a bucket as another process would: the address and their facts are its arguments, `stay` as a third one. */

import { setTimeout } from 'node:timers/promises'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { FileFacts } from '../../src/storage/storage.ts'

const [address = '', list = '[]', after] = process.argv.slice(2)
const files: readonly FileFacts[] = JSON.parse(list)
await openStorage(address).fetch(files)
console.log('fetched')
if (after === 'stay') await setTimeout(600_000)
