/** A night as people run it: by the library, by the command, and by a command that is killed or finds the disk full. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readSettings } from '../../src/config/read-settings.ts'
import { ToolkitError } from '../../src/core/errors.ts'
import type { NightPart } from '../../src/nightly/night-parts.ts'
import type { Environment } from '../../src/nightly/night-settings.ts'
import { nightly } from '../../src/nightly/nightly.ts'
import { armFaults, disarmFaults, openFailingWrites } from '../support/failing-writes.ts'
import { MAIN } from '../support/run-command.ts'

const CLOCK = join(import.meta.dirname, 'child-clock.ts')
const LOADS = `
[machine]
threads = 1
[[pull]]
name = "companies"
content = "companies"
search = { CountryCode = ["SE"] }
[[pull]]
name = "relations"
content = "relations"
search = { CountryCode = ["SE"] }
[[files]]
name = "deliveries"
from = ["inbox/*.jsonl"]
`
/** Both contents, files, and every alarm. */
export const NIGHT_FILE = `${LOADS}
[check]
max_age = "50h"
max_unlooked = "204h"
max_quarantined = "0%"
max_gap = 0
new_drift = false
data = false
`

/** The same loads, checked before they are shown: none may restate many companies. */
export const checkedFile = (held: 'wait' | 'replace'): string => `${LOADS}
[check]
before = "commit"
held = "${held}"
max_age = "50h"
max_unlooked = "204h"
max_restated = "10%"
data = false
`

/** What a command's night is disturbed by, at one of its writing calls. */
export interface Disturbance {
  readonly kind: 'kill' | 'ENOSPC'
  readonly nth: number
}

/** What rings in a night by its parts: the codes of those that fail, of checks their names. Each once, though two parts fail by it. */
export const alarmsOf = (parts: readonly NightPart[]): readonly string[] => {
  const failed = parts.filter(({ state }) => state === 'failed')
  const names = failed.flatMap(({ code = '', checks = [] }) =>
    code === 'CHECK_FAILED' ? checks.map(({ name }) => name) : [code],
  )
  return [...new Set(names)].sort()
}

type LakeEnvironment = Environment & { readonly FIRMLAKE_LAKE: string }

export class YearNights {
  readonly #folder: string
  readonly #env: LakeEnvironment
  readonly #config: string

  constructor(folder: string, env: LakeEnvironment, config = NIGHT_FILE) {
    this.#folder = folder
    this.#env = env
    this.#config = config
  }

  async byLibrary(config = this.#config): Promise<readonly NightPart[]> {
    const { settings } = readSettings(config, join(this.#folder, 'firmlake.toml'), this.#folder)
    let parts: readonly NightPart[] = []
    const report = (done: object): void => {
      if ('parts' in done && Array.isArray(done.parts)) parts = done.parts
    }
    await nightly({ env: this.#env, signal: new AbortController().signal, report, settings }).catch(
      (reason: unknown) => {
        if (!(reason instanceof ToolkitError)) throw reason
      },
    )
    return parts
  }

  async #command(env: Environment, settings = this.#config) {
    const config = join(this.#folder, 'firmlake.toml')
    await writeFile(config, settings, { mode: 0o644 })
    const child = spawn(
      process.execPath,
      ['--import', CLOCK, MAIN, 'nightly', '--config', config, '--json'],
      {
        cwd: this.#folder,
        env: { ...process.env, ...this.#env, ...env, FIRMLAKE_YEAR_NOW_MS: String(Date.now()) },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    const [printed, [code, signal]] = await Promise.all([
      text(child.stdout),
      once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
    ])
    return { printed, code, signal }
  }

  async byCommand(config?: string): Promise<readonly NightPart[]> {
    const { printed } = await this.#command({}, config)
    return (JSON.parse(printed) as { readonly parts: readonly NightPart[] }).parts
  }

  /** Is disturbed, and played again. @returns how the disturbed one ended, and the parts of the second */
  async disturbed(
    { kind, nth }: Disturbance,
    config?: string,
  ): Promise<{ end: string; parts: readonly NightPart[] }> {
    const faults = openFailingWrites()
    if ('missing' in faults) throw new Error(faults.missing)
    armFaults(faults.control, this.#env.FIRMLAKE_LAKE, { kind, once: false, nth })
    const { code, signal, printed } = await this.#command(faults.env, config)
    const { failed } = disarmFaults(faults.control)
    faults.remove()
    const found = /"code":"(\w+)"/.exec(printed)?.[1]
    const end = signal ?? (failed === 0 ? 'not reached' : (found ?? `exit code ${code}`))
    return { end, parts: await this.byLibrary(config) }
  }
}
