/** Who takes part, and how each is started: `node <script> …` as a whole process that writes into a folder. */

import { join } from 'node:path'

export interface Contender {
  readonly name: 'ours' | 'straightforward' | 'hand-tuned'
  /** Arguments of `node`. */
  readonly args: (files: readonly string[], out: string) => readonly string[]
}

const ROOT = join(import.meta.dirname, '..')

export const OURS: Contender = {
  name: 'ours',
  args: (files, out) => [join(ROOT, 'src/cli/main.ts'), 'convert', ...files, '--lake', out],
}
export const CONTENDERS: readonly Contender[] = [
  OURS,
  ...(['straightforward', 'hand-tuned'] as const).map((name) => ({
    name,
    args: (files: readonly string[], out: string) => [join(ROOT, `bench/${name}.ts`), '--out', out, ...files],
  })),
]
