/**
 * Command: `node bench/small-files.ts [--files 1000] [--rounds 5] [--main FILE] [--out DIR]`. Files of one company each
 * against the same lines in one file, in turn, as whole processes. `--main` is the command line that is measured.
 */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import { writeSample } from '../data/sample.ts'
import { measureNode, median } from './measure.ts'

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    main: { type: 'string', default: join(import.meta.dirname, '../src/cli/main.ts') },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const home = join(values.out, 'small-files')
const [many, one, lake] = [join(home, 'many'), join(home, 'one'), join(home, 'lake')]

const makeFiles = async (count: number): Promise<void> => {
  await rm(home, { recursive: true, force: true })
  const sample = join(home, 'sample')
  const options = {
    companies: count,
    seed: 1,
    files: 1,
    small: true,
    awkward: 0,
    content: ['companies'],
  } as const
  const { files } = await writeSample(sample, options, 1)
  const strings = await Promise.all(files.map(({ name }) => readFile(join(sample, name))))
  const lines = strings.flatMap((text) => brotliDecompressSync(text).toString().split('\n').slice(0, -1))
  await mkdir(many)
  await mkdir(one)
  await writeFile(join(one, 'companies.jsonl'), lines.map((line) => `${line}\n`).join(''))
  for (const [at, line] of lines.entries())
    await writeFile(join(many, `companies-${String(at).padStart(6, '0')}.jsonl`), `${line}\n`)
}

const convert = async (folder: string): Promise<number> => {
  await rm(lake, { recursive: true, force: true })
  return (await measureNode([values.main, 'convert', folder, '--lake', lake])).cpuSeconds
}

await makeFiles(Number(values.files))
const rounds: { readonly many: number; readonly one: number }[] = []
for (let round = 0; round < Number(values.rounds); round += 1)
  rounds.push({ many: await convert(many), one: await convert(one) })
const ratios = rounds.map((round) => round.many / round.one)
console.log(
  `${values.files} files: CPU ${median(rounds.map((round) => round.many)).toFixed(2)} s, ` +
    `one file: ${median(rounds.map((round) => round.one)).toFixed(2)} s, ` +
    `ratio: median ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`,
)
await rm(home, { recursive: true })
