import { expect, test } from 'vitest'
import { csvOf } from '../../../src/server/explorer/csv.ts'

test('csvOf quotes where it has to, leaves NULL empty, and makes no text a formula', () => {
  const rows = [
    ['plain', 'a,b', '', null, 1.5, -2, true],
    ['=1+1', 'a "b"\r\n', '＝x', "'-1", { a: ';=1' }, [1, 2], false],
  ]
  expect(csvOf({ columns: ['a', 'b', 'c', 'd', 'e', 'f', '@g'], rows })).toBe(
    'a,b,c,d,e,f,\'@g\r\nplain,"a,b","",,1.5,-2,true\r\n\'=1+1,"a ""b""\r\n",\'＝x,\'\'-1,"{""a"":""\\u003b=1""}","[1,2]",false\r\n',
  )
})
