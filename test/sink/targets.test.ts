import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import type { FileFormat } from '../../src/sink/file-format.ts'
import {
  FILE_FORMAT_NAMES,
  FILE_FORMATS,
  STREAM_FORMATS,
  TARGET_FORMS,
  takesRuns,
} from '../../src/sink/targets.ts'
import { codeWith } from '../support/source-code.ts'
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
    await (await FILE_FORMATS[format].load()).write(path, rows, {})
    const target = new PassThrough()
    const bytes = buffer(target)
    const { stream } = await FILE_FORMATS[format].load()
    expect(await stream(target, rows, { onProgress: () => undefined })).toBe(20_000)
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
  await (await FILE_FORMATS.jsonl.load()).write(path, rows)
  expect(await readFile(path, 'utf8')).toBe(line)
  const target = new PassThrough()
  const bytes = buffer(target)
  await (await FILE_FORMATS.jsonl.load()).stream(target, rows, { onProgress: () => undefined })
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
  await (await FILE_FORMATS.jsonl.load()).write(join(folder, 'jsonl'), rows)
  expect(await readFile(join(folder, 'jsonl'), 'utf8')).toBe(
    `{"l":${values[0]},"i":${values[1]},"s":${values[2]},"n":null,"e":null}\n`,
  )
  await (await FILE_FORMATS.csv.load()).write(join(folder, 'csv'), rows, {})
  const cells = values.map((value) => `"${value.replaceAll('"', '""')}"`)
  expect(await readFile(join(folder, 'csv'), 'utf8')).toBe(`l,i,s,n,e\r\n${cells.join(',')},,\r\n`)
})

test('the formats that need no seeking are those with a stream, and those that take runs those with a folder', async () => {
  expect(FILE_FORMAT_NAMES).toEqual(['csv', 'csv.gz', 'jsonl', 'parquet', 'arrow', 'arrows', 'xlsx'])
  expect(STREAM_FORMATS).toEqual(['csv', 'jsonl', 'arrows'])
  for (const name of FILE_FORMAT_NAMES) {
    const format: FileFormat = await FILE_FORMATS[name].load()
    expect([name, format.stream !== undefined]).toEqual([name, STREAM_FORMATS.some((one) => one === name)])
    expect([name, format.folder !== undefined]).toEqual([name, takesRuns(name)])
  }
})

test('help texts and messages name formats and databases by the table alone', async () => {
  const names = [...TARGET_FORMS.folders, ...TARGET_FORMS.databases].map((form) => form.replace('…', ''))
  const named = new RegExp(names.join('|').replaceAll('.', '\\.').replaceAll('/', '\\/'))
  const strings = await codeWith(named, /^(sink\/(targets\.ts$|postgres\/)|core\/optional-parts\.ts$)/)
  // One folder as an example, examples of commands, and those of the library's docs.
  expect(
    strings.filter((line) => !/a folder such as csv:DIR|expected postgres:\/\/user@host|: doc: '/.test(line)),
  ).toEqual([])
})
