/** Preloaded into a process: writes which modules it loads, one a line, to the file of MODULES_FILE. */

import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const file = process.env.MODULES_FILE
const loaded: string[] = []
registerHooks({
  load: (url, context, next) => {
    loaded.push(url)
    // As a Ctrl-C in the midst of the start.
    if (url.includes(process.env.INTERRUPT_AT ?? '\n')) process.kill(process.pid, 'SIGINT')
    return next(url, context)
  },
})
process.on('exit', () => {
  if (file !== undefined) writeFileSync(file, loaded.join('\n'))
})
