/**
 * A process that answers cursor searches with pages of invented companies of about 10 KB, and does little else. Prints
 * its port. `node bench/page-responder.ts PAGES`
 */

import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { emptyControl } from '../data/control.ts'
import { linesOf } from '../data/sample.ts'
import { FIRST_CURSOR, PAGINATION_HEADER } from '../src/contract/limits.ts'

const PAGE = 500
/** Pages that are made; those of a longer chain are the same with other ids. */
const MADE = 4
const FIRST_ID = 1_000_000_000
const ID = '"InternalId":'

interface MadePage {
  readonly body: Buffer
  /** Where each company's id stands, of ten digits. */
  readonly ids: readonly number[]
}

const pageOf = (lines: readonly string[]): MadePage => {
  const withIds = lines.map((line) => line.replace(/"InternalId":\d+/, `${ID}${FIRST_ID}`))
  const body = Buffer.from(`{"Companies":[${withIds.join(',')}]}`)
  const ids: number[] = []
  const mark = `${ID}${FIRST_ID}`
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + 1)) ids.push(at + ID.length)
  return { body, ids }
}

const options = {
  companies: PAGE * MADE,
  seed: 1,
  files: 1,
  small: false,
  awkward: 0,
  content: ['companies'],
} as const
const lines = [...linesOf('companies', options, emptyControl())]
const pages = Array.from({ length: MADE }, (_, at) => pageOf(lines.slice(at * PAGE, (at + 1) * PAGE)))
const chainPages = Number(process.argv[2])

const server = createServer(async (request, response) => {
  const { Cursor: cursor } = JSON.parse(await text(request))
  const number = cursor === FIRST_CURSOR ? 0 : Number(cursor)
  const made = pages[number % MADE]
  if (made === undefined) throw new RangeError(`There is no page ${number}`)
  const body = Buffer.from(made.body)
  for (const [index, at] of made.ids.entries())
    body.write(String(FIRST_ID + number * PAGE + index), at, 'latin1')
  const pagination = {
    Count: PAGE,
    TotalCount: chainPages * PAGE,
    PageSize: PAGE,
    TotalPages: chainPages,
    Cursor: number + 1 < chainPages ? String(number + 1) : null,
  }
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    [PAGINATION_HEADER]: JSON.stringify(pagination),
  })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(address.port)
})
