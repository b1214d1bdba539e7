import { expect, test } from 'vitest'
import { markdownHead, markdownLine } from '../../../src/cli/output/print-result.ts'

test('markdownHead has the titles, and numbers to the right', () => {
  expect(markdownHead([{ title: 'company_name' }, { title: 'n', right: true }])).toBe(
    '| company_name | n |\n| --- | --: |\n',
  )
})

test.each([
  ['a|b', 'a\\|b'],
  ['<img src=x onerror=alert(1)>', '\\<img src=x onerror=alert(1)\\>'],
  ['*a* `b` ~c~ [d](e) $f$ &amp;', '\\*a\\* \\`b\\` \\~c\\~ \\[d\\](e) \\$f\\$ \\&amp;'],
  ['company_name, _turned_', 'company_name, \\_turned\\_'],
  ['back\\slash', 'back\\\\slash'],
  ['two\nlines\r\nthree', 'two<br>lines<br>three'],
  ['\u001b[2J\u202eb', '\\\\u001b\\[2J\\\\u202eb'],
  ['Øresund 日本', 'Øresund 日本'],
])('markdownLine shows %j as the text that it is', (text, shown) => {
  expect(markdownLine([text])).toBe(`| ${shown} |\n`)
})
