/**
 * Builds the package's code: `src/` with the packages of `bundled.ts` in few files, each part still loaded when it is used; the
 * SQL of views beside it; the licences of all that is in it. Own code keeps its names and short lines, for stacks.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transformSync } from 'esbuild'
import { listedCommands } from '../src/cli/new-program.ts'
import { keptViews } from '../src/lake/views/lake-sql.ts'
import { fixedPart } from '../src/manifest/ducklake/fixed-part.ts'
import { bundledPaths, outsidePackages } from './bundled.ts'
import { joinChunks } from './join-chunks.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const outside = outsidePackages()

const packageOf = (specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0]

const stayOutside = {
  name: 'stay-outside',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      // What a bundled package requires is bundled with it where users may have it, but need not.
      const apart = kind === 'require-call' ? outside.installed : outside.all
      if (kind === 'entry-point' || !apart.has(packageOf(path))) return undefined
      return { path, external: true }
    })
  },
}

/**
 * Node's own modules as it has them. To import one makes Node read each of its names, and of `node:fs` that loads all streams: 5 ms of
 * CPU at each start.
 */
const builtins = {
  name: 'builtins',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : { path, external: true },
    )
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path)).filter((name) => /^[A-Za-z]\w*$/.test(name))
      const named = names.map((name) => `export const ${name} = /* @__PURE__ */ of('${name}')`)
      return {
        contents: `const all = process.getBuiltinModule('${path}')
const of = (name) => all[name]
export default all
${named.join('\n')}`,
      }
    })
  },
}

const FACTS = {
  names: { views: (await keptViews()).name, ...fixedPart().names },
  commands: await listedCommands(),
}

const settings = {
  define: { FACTS_OF_BUILD: JSON.stringify(JSON.stringify(FACTS)) },
  absWorkingDir: root,
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  legalComments: 'none',
  minifyWhitespace: true,
  lineLimit: 120,
  logLevel: 'warning',
  metafile: true,
  write: false,
  plugins: [stayOutside],
}

/** Bundled packages of the older form ask for Node's modules by `require`. */
const REQUIRE = "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)\n"

const isOfPackage = ([path]) => path.includes('node_modules/')
const bytesOf = (inputs) => inputs.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)

/** Files that are mostly of packages are made small. */
const asShipped = (text, inputs) =>
  bytesOf(inputs.filter(isOfPackage)) < bytesOf(inputs) / 2
    ? text
    : transformSync(text, { minify: true, format: 'esm', target: 'node22', legalComments: 'none' }).code

/** The texts of what was built, by path. */
const textsOf = ({ outputFiles, metafile: { outputs } }) =>
  new Map(
    outputFiles.map(({ path, text }) => {
      const place = relative(root, path)
      return [place, asShipped(text, Object.entries(outputs[place].inputs))]
    }),
  )

const write = (path, code) => {
  if (path.startsWith(join('dist', 'packages'))) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, code.includes('typeof require') ? code.replace(/^(#!.*\n)?/, `$1${REQUIRE}`) : code)
}

/** The folders of packages that are in what was built. */
const packagesIn = (metafiles) => {
  const folders = new Set()
  for (const { inputs } of metafiles)
    for (const path of Object.keys(inputs)) {
      const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []
      if (folder !== undefined) folders.add(folder)
    }
  return [...folders].sort()
}

const LICENCE_FILE = /^(licen[cs]e|notice|copying)/i

const licenceOf = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const files = readdirSync(join(root, folder), { recursive: true }).filter(
    (path) => LICENCE_FILE.test(path) && !/node_modules|\.[cm]?[jt]s$|[\\/].*[\\/]/.test(path),
  )
  const strings = files
    .filter((path) => /\S/.test(path))
    .sort()
    .flatMap((path) => {
      try {
        return [readFileSync(join(root, folder, path), 'utf8').trim()]
      } catch {
        // A folder of licences: its files are listed themselves.
        return []
      }
    })
  return `${name} ${version}: ${license}\n\n${strings.join('\n\n')}\n`
}

const START = ['src/cli/run-command.ts', 'src/config/find-file.ts']
const commands = (...names) => names.map((name) => `src/cli/commands/${name}.ts`)
/** What is loaded before the answer or the work begins, of the commands that are called most, and of a thread. */
const TOGETHER = [
  // Before the compile cache is there: what joined it would be compiled at each start.
  ['src/support/work-base.ts', 'src/support/own-package.ts'],
  START,
  [...START, ...commands('status'), 'src/jobs/lake-status.ts', 'src/cli/output/status-lines.ts'],
  [
    ...START,
    ...commands('query'),
    ...['src/cli/ask-lake.ts', 'src/cli/output/print-result.ts', 'src/lake/duckdb/duckdb-values.ts'],
    'src/storage/hash-memory.ts',
  ],
  [...START, ...commands('convert'), 'src/jobs/convert.ts', 'src/lake/duckdb/engine.ts'],
  [...START, ...commands('pull', 'sync', 'nightly', 'plan')],
  ['src/check/check-worker.ts'],
]

const SERVERS = ['fastify', 'prom-client']

rmSync(dist, { recursive: true, force: true })
const code = await build({
  ...settings,
  splitting: true,
  plugins: [builtins, ...settings.plugins],
  chunkNames: 'chunks/[name]-[hash]',
  entryPoints: [
    ...[...['index', 'cli/main', 'check/check-worker'], 'server/serving-index/build/build-process'].map(
      (path) => ({
        in: `src/${path}.ts`,
        out: path,
      }),
    ),
    // Keeps them in a file without own code; the entries themselves are not written.
    ...SERVERS.map((name) => ({ in: name, out: `packages/${name}` })),
  ],
})
const joined = await joinChunks({ outputs: code.metafile.outputs, texts: textsOf(code) }, TOGETHER, settings)
// The engine bundles it again, into a place without Node: it shares nothing.
const workflows = await build({ ...settings, entryPoints: ['src/engine/temporal/workflows.ts'] })
for (const [path, text] of [...joined, ...textsOf(workflows)]) write(path, text)

const folders = packagesIn([code.metafile, workflows.metafile])
const known = bundledPaths()
const unknown = folders.filter((folder) => !known.has(folder))
if (unknown.length > 0)
  throw new Error(`Cannot build: ${unknown.join(', ')} would be in the package, expected in .ci/bundled.ts`)
writeFileSync(
  join(dist, 'THIRD-PARTY-LICENSES.txt'),
  `Parts of these packages are in the code of this one.\n\n${folders.map(licenceOf).join(`\n${'-'.repeat(80)}\n\n`)}`,
)
for (const name of readdirSync(join(root, 'src/analysis')).filter((one) => one.endsWith('.sql')))
  cpSync(join(root, 'src/analysis', name), join(dist, 'analysis', name))
// The style of the report, which the explorer has too.
mkdirSync(join(dist, 'report'), { recursive: true })
cpSync(join(root, 'src/report/sheet.css'), join(dist, 'report/sheet.css'))
