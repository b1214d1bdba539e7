import { expect, test } from 'vitest'
import { detectForm } from '../../src/decode/source-form.ts'
import { blocksOf, COMPRESS } from './byte-sources.ts'

const formOf = (text: string | Buffer, isWhole = true) => detectForm(Buffer.from(text), isWhole)
const tar = Buffer.alloc(512)
tar.write('companies.jsonl')
tar.write('ustar', 257)

test.each([
  ['an Excel workbook or another Office file', 'PK\x03\x04\x14\0\x06\0[Content_Types].xml'],
  ['a ZIP archive', 'PK\x03\x04\x14\0companies.json'],
  ['a Parquet file', 'PAR1\x15\x04'],
  ['a PDF document', '%PDF-1.7\n'],
  ['a tar archive', tar],
  ['bzip2 data', 'BZh91AY&SY'],
  ['UTF-16 text', Buffer.from('\ufeff{"InternalId":1}', 'utf16le')],
  ['UTF-16 text', Buffer.from('{"InternalId":1}', 'utf16le')],
  ['an HTML page', '\n<!DOCTYPE html><html><body>Log in {"a":1}</body></html>'],
  ['XML', '<?xml version="1.0"?><Companies/>'],
  ['CSV', 'InternalId,Name\n1,"Berg, Dal & Co"\n2,Holm\n'],
  ['CSV', '\ufeff"InternalId","Name"\r\n1,Berg\r\n'],
  ['CSV with semicolons', 'InternalId;Umsatz\n1;2,5\n2;3\n'],
  ['tab-separated values', 'InternalId\tName\n1\tBerg, Dal\n'],
  ['binary data', Buffer.from([1, 2, 0, 4, 5, 6])],
  ['JSON records with nothing between them', '{"a":"}{"}{"b":{}}{"a":1}\n'],
])('detectForm names %s', (looks, bytes) => {
  expect(formOf(bytes)).toMatchObject({ kind: 'unusable', looks })
})

test.each([
  ['list', '[{"InternalId":1}]'],
  ['list', '\ufeff\n [\n  {\n    "InternalId": 1'],
  ['list', '[]\n'],
  ['page', '{"Companies":[{"BasicDetails":{}}]}'],
  ['page', '{\n  "Relations": [\n'],
  ['page', '{"TotalCount":2,"Links":{"Companies":[]},"Companies": ['],
  ['records', '{\n  "BasicDetails": {'],
  ['records', '{ "BasicDetails": {\r\n      "InternalId": 1'],
  ['records', '{"a":1}\r{"a":2}\r'],
  ['records', '{"a":1} {"a":2}\n'],
  ['records', '{"a":1},{"a":2}'],
  ['records', '{"a":1},\n{"a":2},\n{"a":3}\n'],
  ['records', '{"a":1}\n,{"a":2}\r\n, {"a":3}'],
  ['records', '{"a":1},\n'],
  ['records', '\x1e{"a":1}\n\x1e{"a":2}\n'],
  ['records', '{"a":1}\x1e{"a":2}'],
  ['records', '\x1e{"a":1}\n'],
])('detectForm takes %s of %j', (form, text) => {
  expect(formOf(text)).toEqual({ kind: 'document', form })
})

test.each([
  '',
  '\n\n',
  '{"InternalId":1}\n{"InternalId":2}\n',
  '{"BasicDetails":{"InternalId":1}\n',
  // The first line is damaged, the second is a record.
  '{"BasicDetails":{\n{"BasicDetails":{}}\n',
  '{"InternalId":1,"Companies":[{}]}\n',
  'no, record\n{"InternalId":1}\n',
  'no record\n',
  '[1,2]\n',
  '"text"\n',
  // Lines that lost an end, a comma or more are quarantined alone.
  '{"a":1}{"a":2}\n{"a":3}\n',
  '{"a":1}\n{"a":2}{"a":3}\n',
  '{"a":1},{"a":2}\n{"a":3}\n',
  '{"a":1}\n{"a":2},\n{"a":3},\n',
  '{"a":1}}\n{"a":2}\n',
  '{"a":1}x{"a":2}\n',
])('detectForm takes %j for JSON Lines', (text) => {
  expect(formOf(text)).toEqual({ kind: 'lines' })
})

test('decodeBlocks says what a source looks like and what to do, compressed too', async () => {
  const csv = Buffer.from('InternalId,Name\n1,Berg\n')
  for (const [kind, compress] of Object.entries(COMPRESS)) {
    const name = kind === 'brotli' ? 'x.csv.br' : 'x.csv'
    await expect(blocksOf(compress(csv), { name })).rejects.toMatchObject({
      code: 'SOURCE_FORM',
      context: { source: name, looks: 'CSV' },
      message: `Cannot load "${name}": it looks like CSV, expected JSON Lines; records have levels that a table has not; get the records as JSON: a batch file, a saved page, or JSON Lines`,
    })
  }
})
