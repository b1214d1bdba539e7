/** A process that runs commands with a umask. Arguments: the umask, the commands as JSON. */

import { spawnSync } from 'node:child_process'
import { MAIN } from '../support/run-command.ts'

const [umask = '', commands = ''] = process.argv.slice(2)
process.umask(Number(umask))
const all: readonly (readonly string[])[] = JSON.parse(commands)
for (const args of all) {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' })
  if (status === 0) continue
  process.stderr.write(`${args.join(' ')}: ${stderr}`)
  process.exit(1)
}
