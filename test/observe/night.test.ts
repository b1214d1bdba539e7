/** What a night leaves for monitoring, and who is told that it failed. */

import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli } from '../cli/run-cli.ts'
import { companyLine } from '../run/batch-bench.ts'
import { openFakeService } from '../service/fake-service.ts'
import type { CliResult } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openEndpoint } from './endpoint.ts'

/** A night in a folder with a `firmlake.toml` that has these sections. */
const night = async (
  folder: string,
  sections: string,
  env: Readonly<Record<string, string>>,
): Promise<CliResult> => {
  await writeFile(join(folder, 'firmlake.toml'), `lake = "lake"\n${sections}`, { mode: 0o600 })
  return cli(['nightly', '--quiet'], { cwd: folder, env: { FIRMLAKE_LAKE: join(folder, 'lake'), ...env } })
}

/** Values by metric and labels, as a collector reads them. */
const metricsIn = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name = '', value] =
          /^([a-z_]+\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\}) ([\d.e+]+)$/.exec(line) ?? []
        if (name === '') throw new Error(`Not the text format: ${line}`)
        return [name, Number(value)]
      }),
  )

test('a night writes its metrics whole; one that fails keeps when it last went well, and rings once', async () => {
  const folder = await temporaryFolder()
  const service = await openFakeService({ companies: [1, 2].map((id) => ({ id, country: 'SE' })) })
  const hook = await openEndpoint()
  const env = {
    FIRMLAKE_URL: service.url,
    FIRMLAKE_TOKEN: service.token,
    FIRMLAKE_SEARCH: '{"CountryCode":["SE"]}',
    ALARM_ADDRESS: `${hook.url}/secret-path`,
  }
  const told = join(folder, 'told')
  const command = join(folder, 'tell')
  await writeFile(command, `#!/bin/sh\n{ echo "$1"; cat; env; } >> ${told}\n`)
  await chmod(command, 0o755)
  const sections = `[metrics]\nfile = "night.prom"\n[hooks]\non_failure = ["${command}", "two words; $HOME"]\nwebhook_env = "ALARM_ADDRESS"\n`
  const lake = join(folder, 'lake')
  const label = `lake="${lake}"`

  const done = await night(folder, sections, env)
  expect([done.code, done.stderr], done.stdout).toEqual([0, ''])
  const first = metricsIn(await readFile(join(folder, 'night.prom'), 'utf8'))
  expect(first.get(`firmlake_night_success{${label}}`)).toBe(1)
  expect(first.get(`firmlake_night_records{${label},content="companies"}`)).toBe(2)
  expect(first.get(`firmlake_night_rows{${label},table="companies"}`)).toBe(2)
  expect((await stat(join(folder, 'night.prom'))).mode & 0o777).toBe(0o644)
  expect(hook.received).toEqual([])

  const failed = await night(folder, sections, { ...env, FIRMLAKE_SEARCH: '{"CountryCod":["SE"]}' })
  expect(failed.code).toBe(1)
  const second = metricsIn(await readFile(join(folder, 'night.prom'), 'utf8'))
  expect(second.get(`firmlake_night_success{${label}}`)).toBe(0)
  expect(second.get(`firmlake_night_exit_code{${label}}`)).toBe(1)
  const lastSuccess = `firmlake_night_last_success_timestamp_seconds{${label}}`
  expect(second.get(lastSuccess)).toBe(first.get(lastSuccess))
  expect((await readdir(folder)).filter((name) => name.includes('prom'))).toEqual(['night.prom'])

  expect(hook.received.map(({ path }) => path)).toEqual(['/secret-path'])
  const alarm = JSON.parse(hook.received[0]?.body.toString() ?? '')
  expect(alarm).toEqual({
    text: `firmlake on ${hostname()}: the night of "${lake}" ended with exit code 1 (PARAMETER_REFUSED, companies, relations): ${alarm.remedy}`,
    ...{ outcome: 'failed', exitCode: 1, host: hostname(), lake, failed: ['companies', 'relations'] },
    ...{ code: 'PARAMETER_REFUSED', remedy: expect.any(String), ended: expect.any(String) },
    seconds: expect.any(Number),
  })
  const [argument, body = '', ...variables] = (await readFile(told, 'utf8')).trimEnd().split('\n')
  expect(argument).toBe('two words; $HOME')
  expect(JSON.parse(body)).toEqual(alarm)
  expect(variables.filter((line) => /FIRMLAKE|ALARM|TOKEN/.test(line))).toEqual([])
  expect(failed.stderr + failed.stdout).not.toContain('secret-path')
  expect(JSON.stringify([alarm, variables])).not.toContain(service.token)
})

test('an alarm that is not taken is tried again, then a warning says so, and the exit code stays', async () => {
  const folder = await temporaryFolder()
  const hook = await openEndpoint(503)
  const sections = '[hooks]\nwebhook_env = "ALARM_ADDRESS"\non_failure = ["/nowhere/tell"]\n'
  // Without a token nothing is begun, and that is a failure too.
  const env = { FIRMLAKE_URL: 'https://service.example', FIRMLAKE_TOKEN: '', ALARM_ADDRESS: hook.url }
  const { code, stderr } = await night(folder, sections, { ...env, FIRMLAKE_SEARCH: '{}' })
  expect(code).toBe(2)
  expect(hook.received.length).toBe(3)
  expect(stderr).toContain(
    'warning: the web hook of [hooks] could not be notified of the failed night: it answers with 503',
  )
  expect(stderr).toContain('warning: the command of [hooks] could not be notified of the failed night: spawn')
  expect(stderr).not.toContain(hook.url)
})

test('a night that a fault in firmlake.toml keeps from beginning rings, and its metrics say so', async () => {
  const folder = await temporaryFolder()
  const hook = await openEndpoint()
  const sections =
    '[check]\nmax_age = "soon"\n[metrics]\nfile = "night.prom"\n[hooks]\nwebhook_env = "ALARM_ADDRESS"\n'
  const { code, stderr } = await night(folder, sections, { ALARM_ADDRESS: hook.url })
  expect([code, stderr.split('\n')[0]]).toEqual([2, expect.stringContaining('line 3: check.max_age:')])
  expect(JSON.parse(hook.received[0]?.body.toString() ?? '')).toMatchObject({
    ...{ outcome: 'failed', exitCode: 2, code: 'CONFIG_INVALID', host: hostname() },
    ...{ lake: join(folder, 'lake'), failed: ['check.max_age'] },
  })
  const metrics = metricsIn(await readFile(join(folder, 'night.prom'), 'utf8'))
  expect(metrics.get(`firmlake_night_exit_code{lake="${join(folder, 'lake')}"}`)).toBe(2)
})

test('a night whose firmlake.toml is no TOML rings by the variable of the web hook', async () => {
  const folder = await temporaryFolder()
  const hook = await openEndpoint()
  const { code } = await night(folder, '[check\n', { FIRMLAKE_WEBHOOK: hook.url })
  expect([code, hook.received.length]).toEqual([2, 1])
})

test('an alarm names the checks that hold a load back, and those that fail in the lake, with value and limit', async () => {
  const folder = await temporaryFolder()
  const hook = await openEndpoint()
  const line = (scale: number): string =>
    companyLine(1, { Financials: { ProfitAndLoss: { NetSales: { 2024: scale } } } })
  const sections =
    '[[files]]\nname = "own"\nfrom = ["inbox"]\n[check]\nbefore = "commit"\nmax_restated = "20%"\nmin_companies = 4\n' +
    '[metrics]\nfile = "night.prom"\n[hooks]\nwebhook_env = "ALARM_ADDRESS"\n'
  const alarmed = async (file: string, text: string) => {
    await mkdir(join(folder, 'inbox'), { recursive: true })
    await writeFile(join(folder, 'inbox', file), `${text}\n`)
    const { code } = await night(folder, sections, { ALARM_ADDRESS: hook.url })
    return { code, alarm: JSON.parse(hook.received.at(-1)?.body.toString() ?? '') }
  }
  const companies = { name: 'companies', value: 1, limit: 4 }
  // A first load is held back by all that fails in it.
  expect(await alarmed('a.jsonl', line(1))).toMatchObject({
    code: 5,
    alarm: { code: 'LOAD_HELD', failed: ['own'], checks: [companies] },
  })
  await cli(['release', '--lake', join(folder, 'lake'), '--yes'], { cwd: folder })
  const held = await alarmed('b.jsonl', line(1000))
  expect(held).toMatchObject({
    code: 5,
    alarm: {
      text: expect.stringContaining(
        '(LOAD_HELD, own, check): Snapshot 2 is held back: 1 check fails in it more than in snapshot 1: restated_share (found 100 %, expected at most 20 %); ',
      ),
      failed: ['own', 'check'],
      checks: [{ name: 'restated_share', value: 1, limit: 0.2 }, companies],
    },
  })
  const metrics = metricsIn(await readFile(join(folder, 'night.prom'), 'utf8'))
  const label = `lake="${join(folder, 'lake')}",check=`
  expect(metrics.get(`firmlake_night_check_failed{${label}"restated_share"}`)).toBe(1)
  expect(metrics.get(`firmlake_night_check_value{${label}"restated_share"}`)).toBe(1)
  expect(metrics.get(`firmlake_night_check_limit{${label}"companies"}`)).toBe(4)
  const waits = await alarmed('c.jsonl', line(1))
  expect(waits.alarm.text).toMatch(/: snapshot 2 is held back since .* \(restated_share \(found 100 %/)
})
