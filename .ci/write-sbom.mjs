/** Writes the package's bill of materials, CycloneDX 1.5 in JSON, of what the lock file pins. Run by `npm pack`. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledPaths } from './bundled.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = process.argv[2] ?? 'dist/sbom.cdx.json'
const readJson = (name) => JSON.parse(readFileSync(`${root}${name}`, 'utf8'))

// The log level is said: "npm pack --silent" hands its own on, and then nothing is printed.
const args = [
  'sbom',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
  '--package-lock-only',
  '--loglevel=error',
]
const printed = execFileSync('npm', args, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === 'win32',
})
const bill = JSON.parse(printed)

// "--omit=dev" of npm 11.19 leaves out what a tool of development needs as well: the lock file tells the two apart.
const { name, version } = readJson('package.json')
const needed = new Set([`${name}@${version}`])
const bundled = bundledPaths()
for (const [path, one] of Object.entries(readJson('package-lock.json').packages))
  if (path !== '' && !one.link && (!one.dev || bundled.has(path)))
    needed.add(`${path.replace(/^.*node_modules\//, '')}@${one.version}`)
const isNeeded = (reference) => needed.has(reference)
bill.components = bill.components.filter((one) => isNeeded(one['bom-ref']))
bill.dependencies = bill.dependencies
  .filter(({ ref }) => isNeeded(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isNeeded) }))
// npm names the folder.
bill.metadata.component.name = name

mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, `${JSON.stringify(bill, null, 2)}\n`)
