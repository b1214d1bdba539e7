/** A client of the SDK that asks a lake in this process. */

import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { type AgentOptions, serveAgents } from '../../src/mcp/serve-agents.ts'

export interface ToolReply {
  readonly text: string
  readonly isError: boolean
}

/** An answer, as far as tests name its members. */
export interface Answer {
  readonly snapshot: number
  readonly columns: readonly string[]
  readonly rows: readonly unknown[]
  readonly cut?: readonly string[]
  readonly [member: string]: unknown
}

export interface AgentClient {
  readonly client: Client
  readonly call: (name: string, parameters?: object, signal?: AbortSignal) => Promise<ToolReply>
  /** The answer as data. @throws where the tool failed */
  readonly data: (name: string, parameters?: object) => Promise<Answer>
  readonly close: () => Promise<void>
}

export const replyOf = async (
  client: Client,
  name: string,
  parameters: object = {},
  signal?: AbortSignal,
): Promise<ToolReply> => {
  const { content, isError = false } = await client.callTool(
    { name, arguments: { ...parameters } },
    signal === undefined ? {} : { signal },
  )
  const [first, ...others] = content
  if (first?.type !== 'text' || others.length > 0) throw new TypeError('expected one text')
  return { text: first.text, isError }
}

const MEBIBYTE = 1024 ** 2

export const openAgents = async (lake: string, more: Partial<AgentOptions> = {}): Promise<AgentClient> => {
  const [own, other] = InMemoryTransport.createLinkedPair()
  const never = new AbortController().signal
  const served = serveAgents(
    { lake, query: true, memoryBytes: 128 * MEBIBYTE, threads: 2, timeoutMs: 60_000, ...more },
    never,
    other,
  )
  // Before the server listens, a message waits in the transport.
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(own)
  const call: AgentClient['call'] = (...asked) => replyOf(client, ...asked)
  return {
    client,
    call,
    data: async (name, parameters) => {
      const { text, isError } = await call(name, parameters)
      if (isError) throw new Error(text)
      return JSON.parse(text)
    },
    close: async () => {
      await client.close()
      await served
    },
  }
}
