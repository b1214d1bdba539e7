/** Who takes part, and how each is started: `node <script> …` as a whole process that writes into a folder. */

import { join } from 'node:path'

export interface Contender {
  readonly name: 'ours' | 'straightforward' | 'hand-tuned'
  /** Arguments of `node`. */
  readonly args: (files: readonly string[], out: string) => readonly string[]
}

const ROOT = join(import.meta.dirname, '..')

/** Our entry as a checkout has it; TypeScript is stripped at its first start. */
export const SOURCE = join(ROOT, 'src/cli/main.ts')

const ours = (main: string): Contender => ({
  name: 'ours',
  args: (files, out) => [main, 'convert', ...files, '--lake', out],
})
export const OURS = ours(SOURCE)

/** @param main our entry */
export const contenders = (main: string): readonly Contender[] => [
  ours(main),
  ...(['straightforward', 'hand-tuned'] as const).map((name) => ({
    name,
    args: (files: readonly string[], out: string) => [join(ROOT, `bench/${name}.ts`), '--out', out, ...files],
  })),
]
