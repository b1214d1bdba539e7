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
const REQUIRE =
  "import { createRequire as newRequire } from 'node:module'\nconst require = newRequire(import.meta.url)\n"

const isOfPackage = ([path]) => path.includes('node_modules/')
const bytesOf = (inputs) => inputs.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)

/** Files that are mostly of packages are made small. */
const asShipped = (text, inputs) =>
  bytesOf(inputs.filter(isOfPackage)) < bytesOf(inputs) / 2
    ? text
    : transformSync(text, { minify: true, format: 'esm', target: 'node22', legalComments: 'none' }).code

const writeOutputs = ({ outputFiles, metafile: { outputs } }) => {
  for (const { path, text } of outputFiles) {
    const place = relative(root, path)
    if (place.startsWith(join('dist', 'packages'))) continue
    const { inputs } = outputs[place]
    const code = asShipped(text, Object.entries(inputs))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, code.includes('typeof require') ? code.replace(/^(#!.*\n)?/, `$1${REQUIRE}`) : code)
  }
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

const SERVERS = ['fastify', 'prom-client']

rmSync(dist, { recursive: true, force: true })
const code = await build({
  ...settings,
  splitting: true,
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
// The engine bundles it again, into a place without Node: it shares nothing.
const workflows = await build({ ...settings, entryPoints: ['src/engine/temporal/workflows.ts'] })
for (const built of [code, workflows]) writeOutputs(built)

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
