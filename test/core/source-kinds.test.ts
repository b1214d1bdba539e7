import { expect, test } from 'vitest'
import {
  announcementOf,
  isAskedAgain,
  kindOf,
  recordedFacts,
  SOURCE_KIND_NAMES,
  withSearch,
} from '../../src/core/source-kinds.ts'
import { codeWith } from '../support/source-code.ts'

const window = {
  ...{ service: 'https://service.example', search: { CountryCode: ['SE'] } },
  ...{ announced: 4, received: 3, pages: 1 },
}
const batch = { service: 'https://service.example', id: '7' }

test('announcementOf gives what the service said of a window or a batch file', () => {
  expect(announcementOf({ kind: 'search', window })).toMatchObject({
    what: 'window',
    announced: 4,
    received: 3,
  })
  expect(announcementOf({ kind: 'batch', batch })).toMatchObject({ what: 'batch', service: batch.service })
  expect(announcementOf({ kind: 'file' })).toBeUndefined()
})

test('origin names the service, the path, the lake or the process that lines came from', () => {
  const origins = SOURCE_KIND_NAMES.map((kind) =>
    kindOf({ kind }).origin({ name: 'in/a.br', window, batch }, 'companies'),
  )
  expect(origins.map(({ at }) => at)).toEqual([
    ...['path', 'process', 'lake', 'service', 'service', 'lake', 'lake', 'process'],
  ])
})

test('isAskedAgain holds of a search alone', () => {
  expect(SOURCE_KIND_NAMES.filter((kind) => isAskedAgain({ kind }))).toEqual(['search'])
})

test('recordedFacts gives the declared facts and no other field', () => {
  expect(recordedFacts({ ...{ kind: 'search', name: 'a' }, window })).toEqual({ window })
  expect(recordedFacts({})).toEqual({})
})

test('withSearch changes the search that a window records', () => {
  const changed = withSearch({ name: 'a', window }, () => ({ CountryCode: ['NO'] }))
  expect(changed).toEqual({ name: 'a', window: { ...window, search: { CountryCode: ['NO'] } } })
  expect(withSearch({ batch }, () => ({}))).toEqual({ batch })
})

test('nobody compares the kind of a source outside the declaration', async () => {
  const own = /^(core\/source-kinds\.ts$|source\/|server\/)/
  expect(await codeWith(/source\??\.kind\s*[!=]==\s*'(?!loaded')/, own)).toEqual([])
  const kinds = SOURCE_KIND_NAMES.filter((kind) => kind !== 'file').join('|')
  expect(await codeWith(new RegExp(`kind\\s*[!=]==\\s*'(${kinds})'`), own)).toEqual([])
})
