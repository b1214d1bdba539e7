/** Conversions to a target that are ended by signals. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { type CommandOptions, runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, SAMPLE } from './run-cli.ts'

const SOURCES = [`${SAMPLE}/companies-0001.jsonl.br`, `${SAMPLE}/relations-0001.jsonl.br`]

const convertTo = (
  from: readonly string[],
  to: string,
  args: readonly string[] = [],
  options?: CommandOptions,
) => runCommand(['convert', ...from, '--to', to, ...args], options)

/** Waits for the lake in between, so that the command is in its midst. */
const lakeBeside = async (out: string): Promise<void> => {
  for (;;) {
    const names = await readdir(out).catch(() => [])
    if (names.some((name) => existsSync(join(out, name, 'lake', '_runs')))) return
    await pause(2)
  }
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'convert --to that is ended by %s shows nothing, and the same command does it all',
  async (signal) => {
    const out = join(await temporaryFolder(), 'out')
    await mkdir(out)
    const ended = await cli(['convert', ...SOURCES, '--to', `parquet:${out}`], {
      onStart: (child) => {
        void lakeBeside(out).then(() => child.kill(signal))
        void once(child, 'exit')
      },
    })
    expect(ended.code).toBe(signal === 'SIGKILL' ? null : 143)
    const left = await readdir(out)
    expect(left.filter((name) => !name.startsWith('.tmp-'))).toEqual([])
    expect(left.length).toBe(signal === 'SIGKILL' ? 1 : 0)
    expect((await convertTo(SOURCES, `parquet:${out}`)).code).toBe(0)
    expect((await readdir(out)).sort()).toEqual(TABLES.map(({ name }) => `${name}.parquet`).sort())
  },
)
