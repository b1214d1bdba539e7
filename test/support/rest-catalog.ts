/**
 * An Iceberg REST catalog, the test server of Iceberg's own build, with its tables in memory. `.ci/install-tools` puts
 * it where this looks.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const TOOLS =
  process.env.FIRMLAKE_TEST_TOOLS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'firmlake-test-tools')
const JARS = join(TOOLS, 'rest-catalog')

/** What is missing for the catalog; for `needs`. */
export const restCatalogMissing = (): string | undefined => {
  if (!existsSync(JARS)) return `no "${JARS}"; run .ci/install-tools`
  return spawnSync('java', ['-version']).status === 0 ? undefined : 'no "java"; run .ci/install-tools'
}

export interface RestCatalog {
  readonly url: string
  readonly close: () => Promise<void>
}

const LISTENS = /Started oejs\.ServerConnector.*:(\d+)\}/

/** Starts it on a free port. */
export const startRestCatalog = async (): Promise<RestCatalog> => {
  const settings = {
    CATALOG_CATALOG__IMPL: 'org.apache.iceberg.inmemory.InMemoryCatalog',
    CATALOG_WAREHOUSE: 'memory',
    CATALOG_REST_PORT: '0',
  }
  const logs = ['defaultLogLevel=error', 'log.org.eclipse.jetty=info'].map(
    (setting) => `-Dorg.slf4j.simpleLogger.${setting}`,
  )
  const args = ['-Xmx256m', ...logs, '-cp', join(JARS, '*'), 'org.apache.iceberg.rest.RESTCatalogServer']
  const child = spawn('java', args, {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'close')
  const close = async (): Promise<void> => {
    child.kill()
    await ended
  }
  let said = ''
  const lines = createInterface({ input: child.stderr })
  const port = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      said = `${said}${line}\n`.slice(-20_000)
      const found = LISTENS.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    lines.once('close', () => reject(new Error(`The catalog ended: ${said}`)))
  })
  return { url: `http://127.0.0.1:${port}`, close }
}
