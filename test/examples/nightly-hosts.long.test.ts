/** A night as hosts start it: the documented line for cron, the units of systemd, the CronJob, the image's steps. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { openFakeService } from '../service/fake-service.ts'
import { needs, runTool } from '../support/needs.ts'
import { PROJECT, readPage } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { jobProblems } from './job-schema.ts'

const example = (name: string): Promise<string> => readFile(join(PROJECT, 'examples', name), 'utf8')

test('the line for cron works with the environment that cron has, and keeps both outputs', async () => {
  const service = await openFakeService({ companies: [{ id: 1, country: 'SE' }] })
  const folder = await temporaryFolder()
  const [, crontab = ''] = /```\n(FIRMLAKE_URL=[^`]*nightly[^`]*)```/.exec(readPage('docs/nightly.md')) ?? []
  const here = crontab
    .replaceAll('/opt/firmlake', PROJECT)
    .replaceAll('/var/log', folder)
    .replaceAll('/data', folder)
    .replaceAll('/etc/firmlake', folder)
    .replace('https://service.example.com', service.url)
  await writeFile(join(folder, 'token'), service.token)
  const lines = here.trimEnd().split('\n')
  const [, command = ''] = /^\S+ \S+ \S+ \S+ \S+ (.*)$/.exec(lines.at(-1) ?? '') ?? []
  expect(command).toContain('nightly')
  const cron = { SHELL: '/bin/sh', PATH: '/usr/bin:/bin', HOME: folder, LOGNAME: 'nobody' }
  const variables = lines.slice(0, -1).map((line) => [line.split('=')[0], line.replace(/^\w+=/, '')])
  const child = spawn('/bin/sh', ['-c', command], { env: { ...cron, ...Object.fromEntries(variables) } })
  expect(await once(child, 'close')).toEqual([0, null])
  expect(JSON.parse(await readFile(join(folder, 'firmlake.jsonl'), 'utf8'))).toMatchObject({
    outcome: 'done',
  })
  expect(await readFile(join(folder, 'firmlake.log'), 'utf8')).toMatch(
    /^companies begins\n(.* (begins|done after .*)\n)+$/,
  )
})

test('systemd takes the units', async (context) => {
  const missing = runTool('systemd-analyze', '--version').error?.message
  needs(context, '"systemd-analyze"', missing)
  const folder = await temporaryFolder()
  const service = (await example('firmlake-nightly.service'))
    .replaceAll('/opt/firmlake/node_modules/.bin/node', process.execPath)
    .replaceAll('User=firmlake', 'User=root')
  await writeFile(join(folder, 'firmlake-nightly.service'), service)
  await writeFile(join(folder, 'firmlake-nightly.timer'), await example('firmlake-nightly.timer'))
  const verify = (name: string): string => {
    const { status, stderr } = runTool('systemd-analyze', 'verify', '--man=no', join(folder, name))
    // It may name units of the machine besides.
    const own = stderr.split('\n').filter((line) => line.includes('firmlake'))
    return status === 0 ? own.join('\n') : `${status}: ${stderr}`
  }
  expect(verify('firmlake-nightly.timer')).toBe('')
  expect(verify('firmlake-nightly.service')).toBe('')
  const calendar = runTool('systemd-analyze', 'calendar', '*-*-* 02:15:00')
  expect(calendar.status).toBe(0)
  await writeFile(
    join(folder, 'firmlake-nightly.service'),
    service.replace('ProtectSystem=', 'ProtectSistem='),
  )
  expect(verify('firmlake-nightly.service')).toContain('ProtectSistem')
})

interface CronJob {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: {
    readonly jobTemplate: { readonly spec: { readonly template: { readonly spec: PodSpec } } }
  }
}

interface PodSpec {
  readonly securityContext: object
  readonly containers: readonly {
    readonly securityContext: object
    readonly env: readonly { name: string }[]
  }[]
}

/** Fields of a CronJob's spec in batch/v1. */
const CRON_FIELDS = [
  ...['concurrencyPolicy', 'failedJobsHistoryLimit', 'jobTemplate', 'schedule', 'startingDeadlineSeconds'],
  ...['successfulJobsHistoryLimit', 'suspend', 'timeZone'],
]

test('the CronJob holds a Job as its schema has it, without rights and with a read-only root', async () => {
  const [cron, claim] = parseAllDocuments(await example('kubernetes-cronjob.yaml')).map(
    (document) => document.toJS() as CronJob,
  )
  expect([cron?.apiVersion, cron?.kind, claim?.kind]).toEqual([
    'batch/v1',
    'CronJob',
    'PersistentVolumeClaim',
  ])
  expect(Object.keys(cron?.spec ?? {}).filter((name) => !CRON_FIELDS.includes(name))).toEqual([])
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: {}, spec: cron?.spec.jobTemplate.spec }
  expect(await jobProblems(job)).toEqual([])
  const pod = cron?.spec.jobTemplate.spec.template.spec
  expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
  expect(pod?.containers[0]?.securityContext).toMatchObject({ readOnlyRootFilesystem: true })
  const documented = readPage('docs/nightly.md') + readPage('docs/observability.md')
  for (const { name } of pod?.containers[0]?.env ?? []) expect(documented).toContain(`\`${name}\``)
})

test('the image copies what its context has, and runs as a user without rights', async () => {
  const file = await readFile(join(PROJECT, 'Dockerfile'), 'utf8')
  const ignored = await readFile(join(PROJECT, '.dockerignore'), 'utf8')
  const copied = [...file.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  )
  expect(copied.length).toBeGreaterThan(3)
  for (const name of copied) expect(ignored).toContain(`!${name}\n`)
  expect(file).toMatch(/^USER 1000:1000$/m)
  const { bin } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))
  expect(file).toContain(`"/app/${bin.firmlake}"`)
})
