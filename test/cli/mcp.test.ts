/** `firmlake mcp` as a client starts it: a process that is asked by its standard input and output. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAgents, replyOf } from '../mcp/agent-client.ts'
import { copyLake } from '../support/lakes.ts'
import { examplesIn, readPage } from '../support/page.ts'
import { MAIN, runCommand } from '../support/run-command.ts'

let folder = ''
let lake = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await copyLake('sample', join(folder, 'lake'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([
  ['the revision of 2026', 'auto', '2026-07-28'],
  ['clients of before', 'legacy', '2025-11-25'],
] as const)('mcp answers %s', async (_who, mode, version) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--lake', lake],
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  expect((await client.listTools()).tools).toHaveLength(9)
  const { text } = await replyOf(client, 'query', { sql: 'SELECT count(*) > 0 FROM companies' })
  expect(JSON.parse(text).rows).toEqual([[true]])
  expect((await client.listResources()).resources.length).toBeGreaterThan(3)
  await client.close()
})

/** Starts the command, and gives its lines as data: none may be anything but a message. */
const started = (args: readonly string[]) => {
  const child = spawn(process.execPath, [MAIN, 'mcp', ...args], { stdio: 'pipe' })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    stderr: () => stderr,
    send: (message: string) => child.stdin.write(`${message}\n`),
    next: async (): Promise<Record<string, unknown>> => JSON.parse((await lines.next()).value ?? 'null'),
  }
}

const request = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const INITIALIZE = request(1, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})
const endOf = async (child: ChildProcess): Promise<unknown> => (await once(child, 'exit'))[0]

test('standard output has messages alone, also behind a line that is none, and the end of the input ends it with 0', async () => {
  const { child, send, next, stderr } = started(['--lake', lake])
  send('no message')
  send(INITIALIZE)
  expect(await next()).toMatchObject({ id: 1, result: { serverInfo: { name: 'firmlake' } } })
  send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  send(request(2, 'tools/call', { name: 'query', arguments: { sql: 'SELECT 1' } }))
  expect(await next()).toMatchObject({ id: 2, result: { content: [{ type: 'text' }] } })
  send(request(3, 'tools/call', { name: 'nosuch', arguments: {} }))
  expect(await next()).toMatchObject({ id: 3 })
  child.stdin.end()
  expect(await endOf(child)).toBe(0)
  expect(stderr()).toBe(`Answering about snapshot 1 of ${lake} on standard input and output\n`)
})

test('a signal ends it with 0, also while a statement runs', async () => {
  const { child, send, next } = started(['--lake', lake])
  send(INITIALIZE)
  await next()
  const sql =
    'SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b WHERE a.range * b.range = 7'
  send(request(2, 'tools/call', { name: 'query', arguments: { sql } }))
  send(request(3, 'ping', {}))
  expect(await next()).toMatchObject({ id: 3 })
  child.kill('SIGTERM')
  expect(await endOf(child)).toBe(0)
})

test('mcp says at the start what is wrong: no lake, too little memory', async () => {
  const none = await runCommand(['mcp', '--lake', join(folder, 'none')])
  expect([none.code, none.stdout]).toEqual([1, ''])
  expect(none.stderr).toContain('error LAKE_NOT_FOUND')
  const little = await runCommand(['mcp', '--lake', lake, '--memory', '300MiB'])
  expect(little.stderr).toContain('expected at least 371MiB')
  expect((await runCommand(['mcp', '--lake', lake, '--memory', '300MiB', '--no-query'])).code).toBe(0)
})

test('docs/agents.md has every tool with its parameters, and its session is one', async () => {
  const agents = await openAgents(lake)
  const { tools } = await agents.client.listTools()
  const documented = [...readPage('docs/agents.md').matchAll(/^\| `([a-z_]+)` \| (.*?) \|/gm)].map(
    ([, name, parameters = '']) => [name, [...parameters.matchAll(/`(\w+)`/g)].map(([, one]) => one)],
  )
  expect(documented.sort()).toEqual(
    tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]).sort(),
  )
  const [session = ''] = examplesIn('docs/agents.md', 'text', 'A session')
  const calls = session.trim().split(/\n\n(?=> )/)
  expect(calls.length).toBeGreaterThan(4)
  for (const call of calls) {
    const [asked = '', ...shown] = call.split('\n')
    const [, name = '', parameters = ''] = /^> (\w+) (.*)$/.exec(asked) ?? []
    const { text } = await agents.call(name, JSON.parse(parameters))
    const isCut = shown.at(-1) === '…'
    const lines = isCut ? shown.slice(0, -1) : shown
    expect([asked, text.split('\n').slice(0, isCut ? lines.length : undefined)]).toEqual([asked, lines])
  }
  await agents.close()
})
