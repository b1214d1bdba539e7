/** Command: `npm run bench:pull`. Page bodies into the spool of a pull, from a static responder in its own process. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pullWindow } from '../src/pull/windows/pull-window.ts'
import { createService, type Service } from '../src/source/service/service.ts'
import { median } from './measure.ts'

const HELP = `Pulls windows of whole pages (500 companies, 5 MB) into a spool on the disk.

  npm run bench:pull -- [options]

  --pages N     pages of a round, over all its windows (40)
  --rounds N    (5)
  --folder DIR  folder for the spools, on the disk to be measured (in the temporary folder)
`
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', default: false },
  },
})

const WINDOWS = [1, 4]
const PAGE = 500
const SAMPLE_EVERY_MS = 20

interface Round {
  readonly megabytes: number
  readonly seconds: number
  readonly cpuSeconds: number
  /** Most of the JavaScript heap in use, sampled. */
  readonly heapMegabytes: number
}

const pullRound = async (service: Service, windows: number): Promise<Round> => {
  await mkdir(values.folder, { recursive: true })
  const folder = await mkdtemp(join(values.folder, 'firmlake-pull-'))
  let heap = 0
  const sampler = setInterval(() => {
    heap = Math.max(heap, process.memoryUsage().heapUsed)
  }, SAMPLE_EVERY_MS)
  try {
    const begun = performance.now()
    const before = process.cpuUsage()
    const pulled = await Promise.all(
      Array.from({ length: windows }, (_, at) =>
        pullWindow(
          { content: 'companies', name: String(at), searches: [{ CountryCode: ['SE'] }], pageSize: PAGE },
          {
            service,
            path: join(folder, `${at}.jsonl`),
            cutAgain: async () => ({ searches: [], missing: 0 }),
          },
        ),
      ),
    )
    const { user, system } = process.cpuUsage(before)
    return {
      megabytes: pulled.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6,
      seconds: (performance.now() - begun) / 1e3,
      cpuSeconds: (user + system) / 1e6,
      heapMegabytes: heap / 1e6,
    }
  } finally {
    clearInterval(sampler)
    await rm(folder, { recursive: true })
  }
}

const measure = async (windows: number): Promise<void> => {
  const pages = Math.ceil(Number(values.pages) / windows)
  const responder = spawn(process.execPath, [join(import.meta.dirname, 'page-responder.ts'), String(pages)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = await once(responder.stdout, 'data')
  const service = createService({
    url: `http://127.0.0.1:${String(port).trim()}`,
    token: 'benchmark',
    maxRequestsPerSecond: 1000,
  })
  try {
    const rounds: Round[] = []
    for (let round = 0; round < Number(values.rounds); round += 1)
      rounds.push(await pullRound(service, windows))
    const rates = rounds.map(({ megabytes, seconds }) => megabytes / seconds)
    const perCpu = median(rounds.map(({ megabytes, cpuSeconds }) => megabytes / cpuSeconds))
    const heap = Math.max(...rounds.map(({ heapMegabytes }) => heapMegabytes))
    console.log(
      `${windows} window${windows === 1 ? ' ' : 's'}: median ${median(rates).toFixed(0)} MB/s (aim 60), ` +
        `${perCpu.toFixed(0)} MB a CPU second, heap at most ${heap.toFixed(0)} MB (aim 150); ` +
        `rounds: ${rates.map((rate) => rate.toFixed(0)).join(' ')}`,
    )
  } finally {
    await service.close()
    responder.kill()
  }
}

if (values.help) console.log(HELP)
else for (const windows of WINDOWS) await measure(windows)
