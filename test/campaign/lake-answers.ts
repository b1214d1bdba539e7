/** What the commands answer of a lake, through the library and by the command line, as texts that can be compared. */

import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BatchListing } from '../../src/contract/listings.ts'
import { openLakeQuery } from '../../src/lake/query/lake-query.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { restoreRecords } from '../../src/restore/restore.ts'
import { newTokenRegistry, tokenHash } from '../../src/server/access/choose-tokens.ts'
import { chooseEmbedder } from '../../src/server/ranking/choose-embedder.ts'
import { serveLake } from '../../src/server/serve-lake.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { cli } from '../cli/run-cli.ts'
import { runIn } from '../run/batch-bench.ts'
import { BLOCKS, MEMORY_BYTES, RESUMED } from './damaged-lake.ts'

export const COMMANDS = ['records', 'query', 'export', 'serve', 'convert'] as const
export type CommandName = (typeof COMMANDS)[number]

/** One command on a lake in `folder/lake`. Throws what the command throws. */
export type Answer = (folder: string) => Promise<string>

const lakeIn = (folder: string): string => join(folder, 'lake')

/** One statement over all tables; ids of partitions hold their run, which is another where a run begins anew. */
const EVERYTHING = [
  ...TABLES.map(({ name }) => `SELECT '${name}' AS "table", to_json(t)::VARCHAR AS "row" FROM ${name} AS t`),
  `SELECT 'quarantine', concat_ws(' ', source, line, code, "raw") FROM quarantine`,
  `SELECT 'history', concat_ws(' ', count(*), sum(value)) FROM financials_history`,
].join('\nUNION ALL\n')

const query: Answer = async (folder) => {
  const lake = lakeIn(folder)
  const asked = await openLakeQuery({ lake, snapshot: await readSnapshot(lake), memoryBytes: MEMORY_BYTES })
  try {
    const found: string[] = []
    for await (const chunk of (await asked.run(EVERYTHING)).rows)
      for (const row of chunk) found.push(JSON.stringify(row))
    return found.sort().join('\n')
  } finally {
    asked.close()
  }
}

const TOKEN = 'damage-campaign-token'

const ask = async (address: string, path: string, body?: object): Promise<string> => {
  const response = await fetch(`${address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = Buffer.from(await response.arrayBuffer())
  if (!response.ok) throw new Error(`The server answered ${response.status}: ${answer}`)
  return answer.toString('base64')
}

/** A page in another currency, relations, and every batch file. */
const pagesOf = async (address: string): Promise<string> => {
  const search = { SearchParameters: { CountryCode: ['SE'] } }
  const strings = [
    await ask(address, '/v2/companies', { ...search, Cursor: '*', Currency: 'EUR' }),
    await ask(address, '/v2/relations', { SearchParameters: { InternalId: [1, 2, 3] }, Cursor: '*' }),
  ]
  const listed = await ask(address, '/v2/batches/batch-files')
  const { BatchFiles: files }: BatchListing = JSON.parse(Buffer.from(listed, 'base64').toString())
  for (const { BatchFileId } of files)
    strings.push(await ask(address, `/v2/batches/batch-file/${encodeURIComponent(BatchFileId)}`))
  return strings.join('\n')
}

const serve: Answer = async (folder) => {
  const server = await serveLake({
    ...{ lake: lakeIn(folder), cursorKey: Buffer.alloc(32, 7), memoryBytes: MEMORY_BYTES },
    ...{ queryTimeoutMs: 30_000, cursorCap: 100_000, http: { port: 0, stopTimeoutMs: 100 } },
    tokens: newTokenRegistry([{ caller: { name: 'test', rights: 'everything' }, sha256: tokenHash(TOKEN) }]),
    embedder: await chooseEmbedder({}),
  })
  try {
    return await pagesOf(server.address)
  } finally {
    await server.close()
  }
}

const filesIn = async (folder: string): Promise<string> => {
  const names = (await readdir(folder)).sort()
  // Rows come in the order in which threads are done with them.
  const rowsOf = async (name: string): Promise<string[]> =>
    (await readFile(join(folder, name), 'utf8')).split('\n').sort()
  const strings = names.map(async (name) => `${name} ${sha256Of((await rowsOf(name)).join('\n'))}`)
  return (await Promise.all(strings)).join('\n')
}

export const BY_LIBRARY: Readonly<Record<CommandName, Answer>> = {
  records: async (folder) => {
    const lake = lakeIn(folder)
    const strings: string[] = []
    for await (const text of restoreRecords({
      lake,
      snapshot: await readSnapshot(lake),
      memoryBytes: MEMORY_BYTES,
    }))
      strings.push(text)
    return strings.join('\n')
  },
  query,
  export: async (folder) => {
    const directory = join(folder, 'out')
    await rm(directory, { recursive: true, force: true })
    const to = { kind: 'folder', format: 'jsonl', directory } as const
    await exportTables({ lake: lakeIn(folder), to, memoryBytes: MEMORY_BYTES })
    return filesIn(directory)
  },
  serve,
  /** Goes on with the unfinished run; what the lake holds then is the answer. */
  convert: async (folder) => {
    await runIn(folder, lakeIn(folder), RESUMED, BLOCKS)
    return query(folder)
  },
}

const printed = async (folder: string, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await cli([...args, '--lake', lakeIn(folder)], { cwd: folder })
  if (code !== 0) throw new Error(stderr)
  return stdout
}

export const BY_COMMAND_LINE: Readonly<Record<CommandName, Answer>> = {
  records: (folder) => printed(folder, ['records']),
  query: async (folder) =>
    (await printed(folder, ['query', '--format', 'csv', EVERYTHING])).split('\n').sort().join('\n'),
  export: async (folder) => {
    const directory = join(folder, 'out')
    await rm(directory, { recursive: true, force: true })
    await printed(folder, ['export', '--to', `jsonl:${directory}`])
    return filesIn(directory)
  },
  serve: async (folder) => {
    const asked = Promise.withResolvers<string>()
    const run = cli(['serve', '--lake', lakeIn(folder), '--port', '0'], {
      env: { FIRMLAKE_SERVE_TOKEN: TOKEN, FIRMLAKE_CURSOR_KEY: '7'.repeat(64) },
      onStart: (child) => {
        let stderr = ''
        child.stderr?.on('data', (text: string) => {
          stderr += text
          const address = /Serving snapshot \d+ of .* at (http:\S+)\n/.exec(stderr)?.[1]
          if (address === undefined) return
          child.stderr?.removeAllListeners('data')
          pagesOf(address)
            .then(asked.resolve, asked.reject)
            .finally(() => child.kill('SIGTERM'))
        })
      },
    })
    run.then(({ stderr }) => asked.reject(new Error(stderr)), asked.reject)
    return asked.promise
  },
  convert: async (folder) => {
    await printed(folder, ['resume'])
    return query(folder)
  },
}
