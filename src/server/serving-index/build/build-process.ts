/** The process that builds an index beside a server: it takes one task, says how that ended, and ends. */

import { ToolkitError } from '../../../core/errors.ts'
import { chooseEmbedder } from '../../ranking/choose-embedder.ts'
import type { BuildAnswer, BuildTask } from './build-request.ts'
import { currentIndex } from './current-index.ts'

/** How long a statement that is under way may keep the process from removing what is unfinished. */
const STOP_MS = 5_000

/** Resolves when the message is on its way, or nobody is there to read it. */
const say = (answer: BuildAnswer): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(answer, undefined, undefined, () => resolve())
    else resolve()
  })

const build = async (task: BuildTask, signal: AbortSignal): Promise<BuildAnswer> => {
  try {
    const index = await currentIndex({
      ...task,
      signal,
      embedder: await chooseEmbedder(process.env, signal),
      onUnusable: ({ message }) => void say({ kind: 'unusable', message }),
    })
    await index.close()
    return { kind: 'built' }
  } catch (error) {
    const code = error instanceof ToolkitError ? error.code : ''
    return { kind: 'failed', code, message: error instanceof Error ? error.message : String(error) }
  }
}

const stop = new AbortController()
process.once('message', async (task: BuildTask) => {
  await say(await build(task, stop.signal))
  process.exit()
})
// The process that waits for the index does not need it any more, or is gone.
process.once('disconnect', () => {
  stop.abort()
  setTimeout(() => process.exit(), STOP_MS)
})
