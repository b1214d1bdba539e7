/** Downloads that are killed. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { companyLines } from '../run/batch-bench.ts'
import { type BatchService, type Offered, offer, startBatchService, TOKEN } from '../run/batch-service.ts'
import { type CommandOptions, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli } from './run-cli.ts'

interface Status {
  readonly snapshot: number | null
  readonly unfinished: readonly unknown[]
  readonly partitionList: readonly { readonly source: string; readonly batch?: object }[]
}

const serving = async (...files: readonly Offered[]): Promise<BatchService> => {
  const service = await startBatchService(files)
  onTestFinished(service.close)
  return service
}

const environment = ({ url }: BatchService): CommandOptions => ({
  env: { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN },
})

const newLake = async (): Promise<string> => join(await temporaryFolder(), 'lake')

const SWEDEN = offer('b-se', companyLines(5))
const LARGE = offer('b-large', companyLines(2000, 1000))

const BEGUN_BYTES = 2000

/** Kills the process as soon as the first bytes of the large file stand in its run's folder. */
const killedInDownload = async (service: BatchService, lake: string): Promise<void> => {
  const runs = join(lake, '_runs')
  const hasBegun = (run: string): boolean => {
    const spool = join(runs, run, 'spool')
    const parts = existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.part')) : []
    return parts.some((name) => name.includes('large') && statSync(join(spool, name)).size >= BEGUN_BYTES)
  }
  const { code } = await cli(['batches', 'pull', '--new', '--lake', lake], {
    ...environment(service),
    onStart: (child) => {
      const look = setInterval(() => {
        if (existsSync(runs) && readdirSync(runs).some(hasBegun)) child.kill('SIGKILL')
      }, 10)
      child.once('exit', () => clearInterval(look))
    },
  })
  expect(code).toBe(null)
}

test.each([
  ['the same command', ['batches', 'pull', '--new']],
  ['resume', ['resume']],
])('a pull that is killed in a download goes on where it stood by %s', async (_, command) => {
  const lake = await newLake()
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  const service = await serving(SWEDEN, {
    ...LARGE,
    answer: (attempt) => (attempt === 1 ? { cutAfter: BEGUN_BYTES, hold: never.promise } : {}),
  })
  await killedInDownload(service, lake)
  const begun = service.requests.length
  await runCommandJson([...command, '--lake', lake], environment(service))
  expect(service.requests.slice(begun)).toContainEqual({ id: 'b-large', range: `bytes=${BEGUN_BYTES}-` })
  const status = await runCommandJson<Status>(['status', '--lake', lake])
  expect(status).toMatchObject({ snapshot: 1, unfinished: [], contents: [{ records: 2005 }] })
  expect(await runCommandJson(['verify', '--lake', lake])).toMatchObject({ problems: [] })
})
