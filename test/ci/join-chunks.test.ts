/** Joining files of a build: the program does the same with fewer, and loads no package that it did not load before. */

import { execFileSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { expect, test } from 'vitest'
import { joinChunks } from '../../.ci/join-chunks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** `both` is of both commands, and each file beside it of one or of none; two export the same name. */
const SOURCES = {
  'main.js': `import { say } from './say.js'
import { both } from './both.js'
say(both)
for (const name of process.argv.slice(2)) await import(name === 'one' ? './one.js' : './two.js')`,
  'say.js': 'export const say = (text) => console.log(text)',
  'both.js': "export const both = 'both'; console.log('both is loaded')",
  'same.js': "export const both = 'the same name'",
  'one.js': `import { say } from './say.js'
import { both } from './both.js'
import { both as same } from './same.js'
say('one, ' + both + ', ' + same)`,
  'two.js': `import { say } from './say.js'
import { both } from './same.js'
import { outside } from './outside.js'
say('two, ' + both + ', ' + outside)`,
  'three.js':
    "import { outside } from './outside.js'; import { both } from './both.js'; console.log(outside, both)",
  'outside.js': "import found from 'package-outside'; export const outside = found",
}

const settings = (root: string) =>
  ({
    ...{ absWorkingDir: root, bundle: true, format: 'esm', platform: 'node', write: false, outdir: 'dist' },
    ...{ external: ['package-outside'], outbase: 'src' },
  }) satisfies BuildOptions

const writeAll = async (root: string, texts: Iterable<readonly [string, string]>): Promise<void> => {
  for (const [path, text] of texts) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

const run = (root: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, ['main.js', ...args], { cwd: join(root, 'dist'), encoding: 'utf8' })

const outputs = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'dist'), { recursive: true })).filter((name) => name.endsWith('.js'))

test('a program of joined files does the same, with fewer of them', async () => {
  const [root, other] = [await temporaryFolder(), await temporaryFolder()]
  const sources = Object.entries(SOURCES).map(([name, text]) => [`src/${name}`, text] as const)
  const manifest = ['package.json', '{"type":"module"}'] as const
  const outside = [
    'node_modules/package-outside/index.js',
    "console.log('outside is loaded'); export default 7",
  ] as const
  for (const folder of [root, other])
    await writeAll(folder, [
      manifest,
      outside,
      ['node_modules/package-outside/package.json', '{"type":"module","main":"index.js"}'],
    ])
  await writeAll(root, sources)
  const { outputFiles, metafile } = await build({
    ...settings(root),
    ...{ splitting: true, metafile: true, chunkNames: 'chunks/[hash]' },
    entryPoints: ['src/main.js', 'src/three.js'],
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [relative(root, path), text]))
  await writeAll(root, texts)

  const joined = await joinChunks(
    { outputs: metafile.outputs, texts },
    [['src/main.js'], ['src/main.js', 'src/one.js'], ['src/main.js', 'src/two.js']],
    settings(root),
  )
  await writeAll(other, joined)
  expect((await outputs(other)).length).toBeLessThan((await outputs(root)).length)

  expect(run(root, 'one', 'two').split('\n')).toEqual([
    'both is loaded',
    'both',
    'one, both, the same name',
    'outside is loaded',
    'two, the same name, 7',
    '',
  ])
  for (const args of [[], ['one'], ['two'], ['one', 'two'], ['two', 'one']])
    expect(run(other, ...args)).toBe(run(root, ...args))
  expect(run(other, 'one')).not.toContain('outside is loaded')
})

test('a source that begins no file is named', async () => {
  const joining = joinChunks({ outputs: {}, texts: new Map() }, [['src/none.js']], settings('/'))
  await expect(joining).rejects.toThrow('none of the build begins with "src/none.js"')
})
