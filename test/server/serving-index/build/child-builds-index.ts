/** A process that hangs while it makes a copy: `child-builds-index.ts <lake> <folder>` prints the folder first. */

import { setTimeout as pause } from 'node:timers/promises'
import { readSnapshot } from '../../../../src/manifest/snapshots/snapshots.ts'
import { buildIndex } from '../../../../src/server/serving-index/build/build-index.ts'
import { lengthEmbedder, requestOf } from '../served-lake.ts'

const [lake = '', folder = ''] = process.argv.slice(2)
const embedder = {
  ...lengthEmbedder,
  embed: async () => {
    console.log(folder)
    await pause(600_000)
    return []
  },
}
await buildIndex(requestOf({ lake, snapshot: await readSnapshot(lake) }, { folder, embedder }))
