/**
 * The files of the explorer's page. A package has them beside it; a checkout makes them from `src/web` when they are first asked
 * for, and keeps them by the content of what they are made from.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sha256Of } from '../../../support/hash.ts'
import { IS_CHECKOUT, ownFile, PACKAGE_FOLDER } from '../../../support/own-package.ts'
import { readCached, writeCached } from '../../../support/user-cache.ts'
import { workBase } from '../../../support/work-base.ts'
import { documentHtml } from './pages.ts'

export interface WebFile {
  readonly type: string
  readonly body: Buffer
  readonly etag: string
}

const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
} as const
export type WebFileName = keyof typeof TYPES

/** Exists in a checkout only: the package does not have it. */
const BUNDLER = join(PACKAGE_FOLDER, '.ci', 'bundle-web.mjs')

interface Bundler {
  /** The script of the page, as bytes. */
  readonly bundleScript: () => Promise<Uint8Array>
}

const isBundler = (module: unknown): module is Bundler =>
  typeof module === 'object' && module !== null && 'bundleScript' in module

/** A hash of all that the script is made from; the packages count by their lock. */
const sourceHash = async (): Promise<string> => {
  const strings: string[] = []
  for (const name of (await readdir(ownFile('web'))).sort())
    if (name.endsWith('.ts')) strings.push(name, await readFile(join(ownFile('web'), name), 'utf8'))
  for (const path of [BUNDLER, join(PACKAGE_FOLDER, 'package-lock.json')])
    strings.push(await readFile(path, 'utf8'))
  return sha256Of(strings.join('\0'))
}

const madeScript = async (): Promise<Buffer> => {
  const path = join(workBase(process.env), 'web', `${await sourceHash()}.js`)
  const cached = await readCached(path)
  if (cached !== undefined) return cached
  const module: unknown = await import(pathToFileURL(BUNDLER).href)
  if (!isBundler(module)) throw new TypeError('Cannot make the page: the bundler exports no "bundleScript"')
  const script = Buffer.from(await module.bundleScript())
  // A cache that cannot be written is made again next time.
  await writeCached(path, script).catch(() => undefined)
  return script
}

/** The style of the report, and what the explorer has besides. */
const style = async (): Promise<Buffer> =>
  Buffer.concat(await Promise.all(['report/sheet.css', 'web/app.css'].map((path) => readFile(ownFile(path)))))

const bodyOf = (name: WebFileName): Promise<Buffer> => {
  if (name === 'index.html') return Promise.resolve(Buffer.from(documentHtml.text))
  if (name === 'app.css') return style()
  return IS_CHECKOUT && name === 'app.js' ? madeScript() : readFile(join(ownFile('web'), name))
}

/** Reads each file once. */
export const openWebFiles = (): ((name: WebFileName) => Promise<WebFile>) => {
  const files = new Map<WebFileName, Promise<WebFile>>()
  return (name) => {
    const known = files.get(name)
    if (known !== undefined) return known
    const file = bodyOf(name).then((body) => ({ type: TYPES[name], body, etag: `"${sha256Of(body)}"` }))
    file.catch(() => files.delete(name))
    files.set(name, file)
    return file
  }
}
