/** Runs examples of the documentation in one process, each in a folder of its own with the same batch files. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PROJECT } from './page.ts'

/** A piece of TypeScript that imports from `firmlake`. */
export interface Example {
  readonly name: string
  readonly code: string
}

/** What an example printed, by its calls of `console.log`; `error` where it failed. */
export interface Ran {
  readonly name: string
  readonly printed: readonly string[]
  readonly error?: string
}

const INDEX = join(PROJECT, 'src/index.ts')

/** What an example says that it prints: the comments behind its calls of `console.log`, and of what prints by itself. */
export const expectedOf = ({ code }: Example): string =>
  [...code.matchAll(/(?:console\.log\(.*\)|^\}\)) \/\/ (.*)$/gm)].map(([, output]) => output).join(', ')

/** @param replaced addresses of examples, and what stands for them here */
export const runExamples = async (
  folder: string,
  examples: readonly Example[],
  replaced: Readonly<Record<string, string>> = {},
): Promise<readonly Ran[]> => {
  const files: string[] = []
  for (const { name, code } of examples) {
    const file = join(folder, name.replaceAll(/\W+/g, '-'), 'example.ts')
    await mkdir(join(file, '..'), { recursive: true })
    const own = Object.entries(replaced).reduce((all, [from, to]) => all.replaceAll(from, to), code)
    await writeFile(file, own.replaceAll("'firmlake'", JSON.stringify(INDEX)))
    files.push(file)
  }
  const child = spawn(process.execPath, [join(PROJECT, 'test/support/child-examples.ts'), folder, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')])
  const ran: readonly Omit<Ran, 'name'>[] = JSON.parse(printed)
  return ran.map((one, at) => ({
    ...one,
    printed: one.printed.map((line) => line.replace(/"seconds":[\d.]+/, '"seconds":0')),
    name: examples[at]?.name ?? '',
  }))
}
