/** Serves a lake and follows it until it is killed. */

import { newTokenRegistry } from '../../src/server/access/choose-tokens.ts'
import { serveLake } from '../../src/server/serve-lake.ts'

const [lake = ''] = process.argv.slice(2)
const { address } = await serveLake({
  ...{ lake, cursorKey: Buffer.alloc(32), memoryBytes: 256 * 1024 ** 2, queryTimeoutMs: 30_000 },
  ...{ cursorCap: 100_000, tokens: newTokenRegistry([]), http: { port: 0 } },
  follow: { everyMs: 10 },
})
console.log(address)
