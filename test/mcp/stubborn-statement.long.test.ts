/** A statement that DuckDB does not interrupt, in a process of its own. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Some minutes on one value. */
const STUBBORN = "SELECT levenshtein(repeat('ab', 300000), repeat('ba', 300000))"

test('the next question is answered, and the process ends with its code', { timeout: 60_000 }, async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await convert({ from: fromRecords('crm', [{ BasicDetails: { InternalId: 1 } }]), lake })
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const child = spawn(process.execPath, [main, 'mcp', '--lake', lake, '--query-timeout', '3'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message: object): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = async (id: number, method: string, params: object): Promise<string> => {
    send({ id, method, params })
    const { value } = await answers.next()
    return String(value)
  }
  const query = (id: number, sql: string): Promise<string> =>
    ask(id, 'tools/call', { name: 'query', arguments: { sql } })
  await ask(1, 'initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  })
  send({ method: 'notifications/initialized' })
  expect(await query(2, 'SELECT 40 + 2 AS first')).toContain('42')
  expect(await query(3, STUBBORN)).toContain('it took longer than 3000 ms')
  expect(await query(4, 'SELECT 40 + 3 AS second')).toContain('43')
  child.stdin.end()
  expect(await once(child, 'exit')).toEqual([0, null])
})
