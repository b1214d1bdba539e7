/** Builds the serving index of a lake's newest snapshot, as the first start of a server does, and ends. Argument: the lake. */

import { servingMemory } from '../src/core/memory-shares.ts'
import { currentIndex } from '../src/server/serving-index/build/current-index.ts'

const [lake = ''] = process.argv.slice(2)
const index = await currentIndex({ lake, memoryBytes: servingMemory(1024 ** 3) })
await index.close()
