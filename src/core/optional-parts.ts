/**
 * The parts of the product whose packages are no part of its installation: whoever uses a part installs its packages, which are
 * imported at first use. package.json names them as optional peers; messages and documentation take the names from here.
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolkitError } from './errors.ts'

interface OptionalPackage {
  readonly name: string
  /** The versions that package.json takes. */
  readonly range: string
  /** The one that the tests have. */
  readonly tested: string
}

export interface OptionalPart {
  /** As messages name it. */
  readonly title: string
  readonly purpose: string
  readonly packages: readonly OptionalPackage[]
  /** Whether it opens buckets, whose addresses begin with its name. @default false */
  readonly isBucket?: true
}

const AWS = { range: '^3.1169.0', tested: '3.1169.0' }
const TEMPORAL = { range: '^1.24.0', tested: '1.24.0' }

const PARTS = {
  s3: {
    title: 'object storage',
    purpose: 'lakes, copies and targets in buckets, `s3://…`',
    packages: [
      { name: '@aws-sdk/client-s3', ...AWS },
      { name: '@aws-sdk/lib-storage', ...AWS },
    ],
    isBucket: true,
  },
  postgres: {
    title: 'PostgreSQL',
    purpose: 'PostgreSQL as a target, `postgres://…`',
    packages: [
      { name: 'pg', range: '^8.23.1', tested: '8.23.1' },
      { name: 'pg-copy-streams', range: '^7.0.0', tested: '7.0.0' },
    ],
  },
  temporal: {
    title: 'Temporal',
    purpose: '`--engine temporal` and `firmlake worker`',
    packages: [
      { name: '@temporalio/activity', ...TEMPORAL },
      { name: '@temporalio/client', ...TEMPORAL },
      { name: '@temporalio/common', ...TEMPORAL },
      { name: '@temporalio/envconfig', ...TEMPORAL },
      { name: '@temporalio/worker', ...TEMPORAL },
      { name: '@temporalio/workflow', ...TEMPORAL },
    ],
  },
  telemetry: {
    title: 'OpenTelemetry',
    purpose: 'traces and metrics of runs, `OTEL_…`',
    packages: [
      { name: '@opentelemetry/api', range: '^1.9.0', tested: '1.10.0' },
      { name: '@opentelemetry/sdk-node', range: '>=0.200.0 <1', tested: '0.301.0' },
    ],
  },
} as const satisfies Readonly<Record<string, OptionalPart>>

export type OptionalPartName = keyof typeof PARTS
export const OPTIONAL_PARTS: Readonly<Record<OptionalPartName, OptionalPart>> = PARTS

const isPart = (name: string): name is OptionalPartName => Object.hasOwn(PARTS, name)
export const OPTIONAL_PART_NAMES: readonly OptionalPartName[] = Object.keys(PARTS).filter(isPart)

/** Schemes of addresses in buckets. */
export type BucketScheme = {
  [Name in OptionalPartName]: (typeof PARTS)[Name] extends { readonly isBucket: true } ? Name : never
}[OptionalPartName]
const opensBuckets = (name: OptionalPartName): name is BucketScheme => OPTIONAL_PARTS[name].isBucket === true
export const BUCKET_SCHEMES: readonly BucketScheme[] = OPTIONAL_PART_NAMES.filter(opensBuckets)

/** The line that installs a part, in the versions that were tested together. */
export const installLine = (part: OptionalPartName): string =>
  `npm install ${OPTIONAL_PARTS[part].packages.map(({ name, tested }) => `${name}@${tested}`).join(' ')}`

/** Address of a package's own module, `file://…`. @throws where it is not installed */
export type Resolve = (name: string) => string

const resolveHere: Resolve = (name) => import.meta.resolve(name)

const entryOf = (name: string, resolve: Resolve): string | undefined => {
  try {
    return resolve(name)
  } catch {
    return undefined
  }
}

/** The packages of a part that are not installed. */
export const missingPackages = (part: OptionalPartName): readonly string[] =>
  OPTIONAL_PARTS[part].packages
    .map(({ name }) => name)
    .filter((name) => entryOf(name, resolveHere) === undefined)

/** The version in the package.json above a file that is the package's own: folders of modules may have one too. */
const versionAbove = (folder: string, name: string): string => {
  const path = join(folder, 'package.json')
  if (existsSync(path)) {
    const own = JSON.parse(readFileSync(path, 'utf8')) as {
      readonly name?: string
      readonly version?: string
    }
    if (own.name === name) return own.version ?? 'unknown'
  }
  return dirname(folder) === folder ? 'unknown' : versionAbove(dirname(folder), name)
}

/** The version of a package that is installed; `undefined` where it is not. */
export const installedVersion = (name: string, resolve: Resolve = resolveHere): string | undefined => {
  const entry = entryOf(name, resolve)
  return entry === undefined ? undefined : versionAbove(dirname(fileURLToPath(entry)), name)
}

/**
 * Called before a part's packages are imported.
 *
 * @throws {ToolkitError} `PACKAGE_MISSING`, with the line that installs its packages, where one of them is missing
 */
export const requirePart = (part: OptionalPartName): void => {
  if (missingPackages(part).length === 0) return
  const { title } = OPTIONAL_PARTS[part]
  throw new ToolkitError(
    'PACKAGE_MISSING',
    `Cannot use ${title}: its packages are not installed, "${installLine(part)}" installs them`,
  )
}
