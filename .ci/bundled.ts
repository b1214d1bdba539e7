/**
 * What the build puts into the package itself, beside the dependencies and optional peers of package.json: parts of packages that
 * would be many more files and packages in every installation. DEPENDENCIES.md says why each.
 */

import { readFileSync } from 'node:fs'

type Names = Readonly<Record<string, string>>
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Names }>>
}
interface Manifest {
  readonly dependencies: Names
  readonly peerDependencies: Names
}

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

/** Named by imports in `src/`. */
const BUNDLED = [
  '@duckdb/node-api',
  '@modelcontextprotocol/server',
  'avsc',
  'commander',
  'fastify',
  'p-limit',
  'prom-client',
  'toml-eslint-parser',
]

/** Where the lock file has what a package at `from` asks for: as Node looks for it. */
const placeOf = ({ packages }: Lock, from: string, name: string): string => {
  const place = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (packages[place] !== undefined) return place
  if (from === '') throw new Error(`Cannot find "${name}": the lock file has none, run "npm install"`)
  return placeOf({ packages }, from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1)), name)
}

/** These and all that they ask for, as paths of the lock file. */
export const bundledPaths = (): ReadonlySet<string> => {
  const lock: Lock = JSON.parse(read('package-lock.json'))
  const paths = new Set<string>()
  const add = (from: string, name: string): void => {
    const place = placeOf(lock, from, name)
    if (paths.has(place)) return
    paths.add(place)
    for (const needed of Object.keys(lock.packages[place]?.dependencies ?? {})) add(place, needed)
  }
  for (const name of BUNDLED) add('', name)
  return paths
}

/**
 * Packages that stay outside: whoever installs firmlake has them (`installed`), or installs them for a part. Of one that is
 * installed for the sake of its types the code is bundled.
 */
export const outsidePackages = (): Readonly<Record<'installed' | 'all', ReadonlySet<string>>> => {
  const { dependencies, peerDependencies }: Manifest = JSON.parse(read('package.json'))
  const installed = Object.keys(dependencies).filter((name) => !BUNDLED.includes(name))
  return { installed: new Set(installed), all: new Set([...installed, ...Object.keys(peerDependencies)]) }
}
