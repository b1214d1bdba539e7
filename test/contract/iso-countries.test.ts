import { expect, test } from 'vitest'
import { ISO_COUNTRIES } from '../../src/contract/iso-countries.ts'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
/** Reserved, assigned by users, or withdrawn: codes that have a name and are no countries of the standard. */
const NO_COUNTRIES = new Set(
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FQ FX HV IC JT MI NH NQ NT PC PU PZ QO QU RH SU TA TP UK UN VD WK XA XB XK YD YU ZR ZZ'.split(
    ' ',
  ),
)

test('ISO_COUNTRIES has the 249 assigned codes: each code of two letters that has a name and is no exception', () => {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
  const named = LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`)).filter(
    (code) => names.of(code) !== undefined && !NO_COUNTRIES.has(code),
  )
  expect(ISO_COUNTRIES.size).toBe(249)
  expect([...ISO_COUNTRIES]).toEqual(named)
})
