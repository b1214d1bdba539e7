/** JSON documents in place of JSON Lines: the same lake, places that can be found again, and clear refusals. */

import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  type Bench,
  type Compression,
  companyLine,
  companyLines,
  openBench,
  relationsLine,
} from './batch-bench.ts'

const bench = async (): Promise<Bench> => openBench(await temporaryFolder())
const RECORDS: readonly object[] = companyLines(30).map((line) => JSON.parse(line))
const ALL = 'SELECT * FROM companies JOIN financials USING (internal_id) ORDER BY internal_id, fiscal_year'

/** What a lake of `file` answers. */
const rowsOf = async (file: string, content: Buffer, compression: Compression) => {
  const one = await bench()
  await one.write(file, content, compression)
  const { summary } = await one.run([file], { limits: { blockBytes: 2000 } })
  expect(summary.partitions.length).toBeGreaterThan(2)
  expect((await one.verify()).problems).toEqual([])
  return one.query(ALL)
}

test.each<[string, string, Compression]>([
  ['a list', JSON.stringify(RECORDS), 'plain'],
  ['a list over lines', JSON.stringify(RECORDS, null, 2), 'brotli'],
  ['a saved page', JSON.stringify({ Companies: RECORDS }), 'zstd'],
  ['records over lines', RECORDS.map((record) => JSON.stringify(record, null, 2)).join('\n'), 'gzip'],
])('convert loads %s as the same lines', async (_name, text, compression) => {
  const lines = await rowsOf(
    'lines.jsonl',
    Buffer.from(RECORDS.map((one) => `${JSON.stringify(one)}\n`).join('')),
    'plain',
  )
  expect(lines).toHaveLength(60)
  expect(await rowsOf('saved', Buffer.from(text), compression)).toEqual(lines)
})

test('convert loads a saved page of relations', async () => {
  const one = await bench()
  await one.write('saved.json', Buffer.from(`{"Relations":[${relationsLine(1)},\n${relationsLine(2)}]}`))
  const { summary } = await one.run(['saved.json'])
  expect(summary.partitions).toMatchObject([{ content: 'relations', counts: { records: 2, quarantined: 0 } }])
})

test('convert sets a bad record of a page aside with its number and its place in the file', async () => {
  const one = await bench()
  const bad = '{"BasicDetails":{"InternalId":\n"none"}}'
  const text = `{"Companies":[\n  ${companyLine(1)},\n  ${bad},\n  ${companyLine(3)}\n]}`
  await one.write('saved.json', Buffer.from(text))
  await one.run(['saved.json'], { maxQuarantined: { kind: 'count', lines: 1 } })
  expect(await one.query('SELECT line, byte_offset, size_bytes, code FROM quarantine')).toEqual([
    [2, text.indexOf(bad), bad.length, 'ID_NOT_WHOLE'],
  ])
  expect(await one.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [3]])
})

test('convert goes on with a list where it was stopped, and does not load it twice', async () => {
  const one = await bench()
  await one.write('saved.json', Buffer.from(JSON.stringify(RECORDS, null, 1)))
  const controller = new AbortController()
  const stopped = one.run(['saved.json'], {
    limits: { blockBytes: 2000 },
    signal: controller.signal,
    onEvent: (event) => event.kind === 'progress' && event.progress.records >= 10 && controller.abort(),
  })
  await expect(stopped).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const { summary, events } = await one.run(['saved.json'], { limits: { blockBytes: 2000 } })
  expect(events[0]).toMatchObject({ kind: 'started', resumed: true })
  expect(events[0]).not.toMatchObject({ finished: 0 })
  expect(summary.partitions.reduce((records, { counts }) => records + counts.records, 0)).toBe(30)
  const again = await one.run(['saved.json'])
  expect(again.summary).toMatchObject({ snapshot: undefined, skipped: [{ source: 'saved.json' }] })
})

test('convert shows nothing of a page that is cut off', async () => {
  const one = await bench()
  const text = JSON.stringify({ Companies: RECORDS })
  await one.write('saved.json', Buffer.from(text.slice(0, -100)))
  await expect(one.run(['saved.json'], { limits: { blockBytes: 2000 } })).rejects.toMatchObject({
    code: 'DOCUMENT_DAMAGED',
    context: { source: 'saved.json', offset: text.length - 100, records: 29 },
  })
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
})

const CSV = Buffer.from('InternalId,Name\n1,Berg\n2,Holm\n')

test('convert says what a file that is named looks like, also where it is told its content', async () => {
  const one = await bench()
  await one.write('firms.csv', CSV)
  for (const options of [{}, { content: 'companies' as const }])
    await expect(one.run(['firms.csv'], options)).rejects.toMatchObject({
      code: 'SOURCE_FORM',
      context: { source: 'firms.csv', looks: 'CSV' },
    })
})

test('convert leaves a file of another form out of a folder, unless its name says that it should hold records', async () => {
  const one = await bench()
  await one.write('in/a.jsonl', companyLines(2))
  await one.write('in/list.csv', CSV)
  const { summary } = await one.run(['in'])
  expect(summary.skipped).toEqual([
    { source: 'in/list.csv', reason: 'not a companies or relations file: it looks like CSV' },
  ])
  await one.write('in/companies-2.jsonl', Buffer.from('<html><body>502 Bad Gateway</body></html>'))
  await expect(one.run(['in'])).rejects.toMatchObject({
    code: 'SOURCE_FORM',
    context: { source: 'in/companies-2.jsonl', looks: 'an HTML page' },
  })
})
