/** Holds a database file open until its standard input ends. */

import { once } from 'node:events'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'

const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
const session = await engine.connect()
await session.run(`ATTACH ${literal(process.argv[2] ?? '')} AS db`)
process.stdout.write('open\n')
process.stdin.resume()
await once(process.stdin, 'end')
engine.close()
