/** The service of a year: what it holds is served anew each night, behind an address that stays, with the date of that night. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { DEFAULT_MEMORY_BYTES, servingMemory } from '../../src/core/memory-shares.ts'
import { convert } from '../../src/jobs/convert.ts'
import { type ServedLake, serve } from '../../src/jobs/serve.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { chooseEmbedder } from '../../src/server/ranking/choose-embedder.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'

export const TOKEN = `year-${randomBytes(8).toString('hex')}`

const CONTENTS = ['companies', 'relations'] as const
/** Several files of each content. */
const COMPANIES_PER_FILE = 100

/** What the service does to its answers of a night. */
export interface Manners {
  /** Companies that come without a usable id. */
  readonly broken: ReadonlySet<number>
  /** Paths that are answered with a status alone. */
  readonly refuses: (path: string) => number | undefined
  /** Rules of the server's faults. */
  readonly faults: readonly object[]
}

export const CALM: Manners = { broken: new Set(), refuses: () => undefined, faults: [] }

/** Nobody is to follow a redirect with a token: whoever asks here did. */
const ELSEWHERE = '/elsewhere'

type Served = { readonly BasicDetails?: { readonly InternalId?: number } }

export class YearService implements AsyncDisposable {
  readonly #folder: string
  readonly #front: Server
  #behind: ServedLake | undefined
  #holds = ''
  #faults = ''
  #manners: Manners = CALM
  /** Requests that followed a redirect. */
  strayed = 0

  private constructor(folder: string) {
    this.#folder = folder
    this.#front = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      if (incoming.url === ELSEWHERE) this.strayed += 1
      const status = this.#manners.refuses(incoming.url ?? '')
      if (status !== undefined) return outgoing.writeHead(status).end()
      const { 'accept-encoding': _, ...headers } = incoming.headers
      const { hostname, port } = new URL(this.#behind?.url ?? '')
      const { method, url: path } = incoming
      const onward = request({ hostname, port, method, path, headers }, (answer) => {
        this.#answer(answer, outgoing).catch(() => outgoing.destroy())
      })
      onward.on('error', () => outgoing.destroy())
      onward.end(Buffer.concat(chunks))
    })
  }

  static async open(folder: string): Promise<YearService> {
    const service = new YearService(folder)
    service.#front.listen(0, '127.0.0.1')
    await once(service.#front, 'listening')
    return service
  }

  get url(): string {
    const { port } = this.#front.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  /** A fault that sends all requests of a content away. */
  get redirects(): readonly object[] {
    return CONTENTS.map((on) => ({ on, fault: 'redirect', location: `${this.url}${ELSEWHERE}` }))
  }

  /** From now on it has these records and no others. */
  async hold(companies: readonly object[], relations: readonly object[], manners: Manners): Promise<void> {
    this.#manners = manners
    const lake = join(this.#folder, 'service')
    const files = Object.entries({ companies, relations }).map(([content, records]) => ({
      path: join(this.#folder, `${content}.jsonl`),
      text: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    }))
    const holds = files.map(({ text }) => text).join('')
    const faults = JSON.stringify({ faults: manners.faults })
    const isHeld = holds === this.#holds
    if (isHeld && faults === this.#faults) return
    await this.#behind?.close()
    if (!isHeld) {
      await rm(lake, { recursive: true, force: true })
      for (const { path, text } of files) await writeFile(path, text)
      await convert({ from: files.map(({ path }) => path), lake, threads: 1 })
    }
    const path = join(this.#folder, 'faults.json')
    await writeFile(path, faults)
    const isFaulty = manners.faults.length > 0
    this.#behind = await serve({ lake, port: 0, token: TOKEN, threads: 1, ...(isFaulty && { faults: path }) })
    this.#holds = holds
    this.#faults = faults
  }

  /** Offers all that it holds as batch files. */
  async makeBatches(): Promise<void> {
    const lake = join(this.#folder, 'service')
    const index = await currentIndex({
      ...{ lake, memoryBytes: servingMemory(DEFAULT_MEMORY_BYTES), threads: 1 },
      embedder: await chooseEmbedder({}),
    })
    try {
      await makeBatchFiles({ lake, index, companiesPerFile: COMPANIES_PER_FILE })
    } finally {
      await index.close()
    }
  }

  /** With the date of the night. Broken answers stay broken as they are. */
  async #answer(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const headers = { ...answer.headers, date: new Date().toUTCString() }
    if (this.#manners.broken.size === 0) {
      outgoing.writeHead(answer.statusCode ?? 500, headers)
      return pipeline(answer, outgoing)
    }
    const body = this.#changed(await buffer(answer))
    outgoing.writeHead(answer.statusCode ?? 500, { ...headers, 'content-length': body.length }).end(body)
  }

  #changed(body: Buffer): Buffer {
    if (this.#manners.broken.size === 0 || !body.toString('utf8', 0, 14).includes('"Companies"')) return body
    const page: { readonly Companies: readonly Served[] } = JSON.parse(body.toString('utf8'))
    const Companies = page.Companies.map((one) =>
      this.#manners.broken.has(one.BasicDetails?.InternalId ?? -1)
        ? { ...one, BasicDetails: { ...one.BasicDetails, InternalId: 'lost' } }
        : one,
    )
    return Buffer.from(JSON.stringify({ ...page, Companies }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#behind?.close()
    this.#front.close()
    this.#front.closeAllConnections()
  }
}

const PASSING_FAULTS = [
  { fault: '429', retryAfter: 1 },
  { fault: '500' },
  { fault: '502' },
  { fault: '503', retryAfter: 1 },
  { fault: 'reset' },
  { fault: 'resetInBody' },
  { fault: 'truncated' },
  { fault: 'truncatedUnannounced' },
  { fault: 'halfDocument' },
  { fault: 'drip', bytesPerSecond: 1_000_000 },
  { fault: 'emptyLastPage' },
  { fault: 'omittedCursor' },
  { fault: 'damaged' },
] as const

/** Some answers of a night come so; asked again they are whole. */
export const faultsOf = (random: () => number): readonly { readonly fault: string }[] =>
  CONTENTS.map((on) => ({
    ...(PASSING_FAULTS[Math.floor(random() * PASSING_FAULTS.length)] ?? PASSING_FAULTS[0]),
    ...{ on, at: [1 + Math.floor(random() * 2)] },
  }))
