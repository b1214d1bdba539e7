/** The service of a month: what it holds is served anew each night, behind an address that stays, with the date of that night. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { convert } from '../../src/jobs/convert.ts'
import { type ServedLake, serve } from '../../src/jobs/serve.ts'

export const TOKEN = `month-${randomBytes(8).toString('hex')}`

/** What the service does to its answers of a night. */
export interface Manners {
  /** Companies that come without a usable id. */
  readonly broken: ReadonlySet<number>
  /** Paths that are answered with a status alone. */
  readonly refuses: (path: string) => number | undefined
}

type Served = { readonly BasicDetails?: { readonly InternalId?: number } }

export class MonthService implements AsyncDisposable {
  readonly #folder: string
  readonly #front: Server
  #behind: ServedLake | undefined
  #holds = ''
  #manners: Manners = { broken: new Set(), refuses: () => undefined }

  private constructor(folder: string) {
    this.#folder = folder
    this.#front = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      const status = this.#manners.refuses(incoming.url ?? '')
      if (status !== undefined) return outgoing.writeHead(status).end()
      const { 'accept-encoding': _, ...headers } = incoming.headers
      const { hostname, port } = new URL(this.#behind?.url ?? '')
      const { method, url: path } = incoming
      request({ hostname, port, method, path, headers }, async (answer) => {
        const parts: Buffer[] = []
        for await (const part of answer) parts.push(part)
        const body = this.#changed(Buffer.concat(parts))
        const { 'content-length': length, ...passed } = answer.headers
        outgoing
          .writeHead(answer.statusCode ?? 500, {
            ...passed,
            ...(length && { 'content-length': body.length }),
            date: new Date().toUTCString(),
          })
          .end(body)
      }).end(Buffer.concat(chunks))
    })
  }

  static async open(folder: string): Promise<MonthService> {
    const service = new MonthService(folder)
    service.#front.listen(0, '127.0.0.1')
    await once(service.#front, 'listening')
    return service
  }

  get url(): string {
    const { port } = this.#front.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  /** From now on it has these records and no others. */
  async hold(companies: readonly object[], relations: readonly object[], manners: Manners): Promise<void> {
    this.#manners = manners
    const holds = JSON.stringify([companies, relations])
    if (holds === this.#holds) return
    this.#holds = holds
    await this.#behind?.close()
    const lake = join(this.#folder, 'service')
    await rm(lake, { recursive: true, force: true })
    for (const [content, records] of [
      ['companies', companies],
      ['relations', relations],
    ] as const) {
      const file = join(this.#folder, `${content}.jsonl`)
      await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
      await convert({ from: [file], lake, content })
    }
    this.#behind = await serve({ lake, port: 0, token: TOKEN })
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
