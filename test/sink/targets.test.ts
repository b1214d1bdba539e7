import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { FILE_FORMAT_NAMES, FILE_FORMATS, STREAM_FORMATS } from '../../src/sink/targets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.each(['csv', 'jsonl'] as const)(
  'a stream gives the lines of a %s file, byte by byte',
  async (format) => {
    const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
    onTestFinished(() => engine.close())
    const session = await engine.connect()
    // Lines short enough to stand in DuckDB's rows, and longer ones; some begin with a byte order mark.
    const rows = session.relation(`SELECT CASE i % 5 WHEN 0 THEN '' WHEN 1 THEN chr(65279) || 'ä'
    WHEN 2 THEN repeat('"x" ', (i % 50)::INTEGER) WHEN 3 THEN i::VARCHAR END AS a FROM range(20_000) AS t (i)`)
    const path = join(await temporaryFolder(), 'rows')
    await FILE_FORMATS[format].write(path, rows, {})
    const target = new PassThrough()
    const bytes = buffer(target)
    expect(await FILE_FORMATS[format].stream(target, rows, { onProgress: () => undefined })).toBe(20_000)
    target.end()
    const lines = (content: Buffer): string[] => content.toString('latin1').split('\n').sort()
    expect(lines(await bytes)).toEqual(lines(await readFile(path)))
  },
)

test('a JSON Lines export has instants as ISO 8601 and null where a number is not finite, in a file and streamed', async () => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  const rows = session.relation(`SELECT 9007199254740993 AS r, TIMESTAMPTZ '2026-01-02 03:04:05+02' AS tz,
    TIMESTAMP '2026-01-02 03:04:05.000001' AS ts, 'nan'::DOUBLE AS n, '-inf'::FLOAT AS f, 0.1::DOUBLE AS d`)
  const line =
    '{"r":9007199254740993,"tz":"2026-01-02T01:04:05.000Z","ts":"2026-01-02T03:04:05.000001","n":null,"f":null,"d":0.1}\n'
  const path = join(await temporaryFolder(), 'rows')
  await FILE_FORMATS.jsonl.write(path, rows)
  expect(await readFile(path, 'utf8')).toBe(line)
  const target = new PassThrough()
  const bytes = buffer(target)
  await FILE_FORMATS.jsonl.stream(target, rows, { onProgress: () => undefined })
  target.end()
  expect(String(await bytes)).toBe(line)
})

test('an export has instants and numbers inside lists and structs as JSON has them, in JSON Lines and CSV', async () => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  const rows =
    session.relation(`SELECT ['nan'::DOUBLE, 0.5] AS l, [[TIMESTAMPTZ '2026-01-02 03:04:05+02', NULL]] AS i,
    {'t"x': TIMESTAMP '2026-01-02 03:04:05', 's': [{'f': 'inf'::FLOAT}, NULL], 'a': '=1'} AS s,
    NULL::STRUCT(d DOUBLE) AS n, NULL::DOUBLE[] AS e`)
  const values = [
    '[null,0.5]',
    '[["2026-01-02T01:04:05.000Z",null]]',
    '{"t\\"x":"2026-01-02T03:04:05.000","s":[{"f":null},null],"a":"=1"}',
  ]
  const folder = await temporaryFolder()
  await FILE_FORMATS.jsonl.write(join(folder, 'jsonl'), rows)
  expect(await readFile(join(folder, 'jsonl'), 'utf8')).toBe(
    `{"l":${values[0]},"i":${values[1]},"s":${values[2]},"n":null,"e":null}\n`,
  )
  await FILE_FORMATS.csv.write(join(folder, 'csv'), rows, {})
  const cells = values.map((value) => `"${value.replaceAll('"', '""')}"`)
  expect(await readFile(join(folder, 'csv'), 'utf8')).toBe(`l,i,s,n,e\r\n${cells.join(',')},,\r\n`)
})

test('the formats that need no seeking are those with a stream', () => {
  expect(FILE_FORMAT_NAMES).toEqual(['csv', 'csv.gz', 'jsonl', 'parquet', 'arrow', 'arrows', 'xlsx'])
  expect(STREAM_FORMATS).toEqual(['csv', 'jsonl', 'arrows'])
})
