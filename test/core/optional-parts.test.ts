import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  installLine,
  missingPackages,
  OPTIONAL_PARTS,
  type OptionalPartName,
  OPTIONAL_PART_NAMES as PARTS,
  requirePart,
} from '../../src/core/optional-parts.ts'
import { cli } from '../cli/run-cli.ts'
import { PROJECT, readPage } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withoutPart } from '../support/without-part.ts'

const packages = PARTS.flatMap((part) => OPTIONAL_PARTS[part].packages)

test('package.json has the packages of the parts as optional peers, and in the tested versions as tools', () => {
  const manifest: {
    readonly peerDependencies: Readonly<Record<string, string>>
    readonly peerDependenciesMeta: Readonly<Record<string, unknown>>
    readonly devDependencies: Readonly<Record<string, string>>
  } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
  expect(manifest.peerDependencies).toEqual(Object.fromEntries(packages.map((one) => [one.name, one.range])))
  expect(manifest.peerDependenciesMeta).toEqual(
    Object.fromEntries(packages.map(({ name }) => [name, { optional: true }])),
  )
  expect(manifest.devDependencies).toMatchObject(
    Object.fromEntries(packages.map(({ name, tested }) => [name, tested])),
  )
})

test('missingPackages and requirePart find what is installed here', () => {
  for (const part of PARTS) {
    expect(missingPackages(part)).toEqual([])
    requirePart(part)
  }
})

const PAGES: Readonly<Record<OptionalPartName, string>> = {
  s3: 'docs/buckets.md',
  postgres: 'docs/targets.md',
  temporal: 'docs/many-machines.md',
  telemetry: 'docs/observability.md',
}

test.each(PARTS)('the page on %s has the line that installs it, and DEPENDENCIES.md too', (part) => {
  for (const page of [PAGES[part], 'DEPENDENCIES.md'])
    expect(readPage(page).replaceAll(/\\\n\s*/g, '')).toContain(installLine(part))
})

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly integrity?: string; readonly dependencies?: Readonly<Record<string, string>> }>
  >
}

test('the image has object storage and PostgreSQL, each package as the tests have it', () => {
  const [parts, own]: readonly LockFile[] = ['etc/image-parts/', ''].map((folder) =>
    JSON.parse(readPage(`${folder}package-lock.json`)),
  )
  const wanted = [...OPTIONAL_PARTS.s3.packages, ...OPTIONAL_PARTS.postgres.packages]
  const { '': root, ...locked } = parts?.packages ?? {}
  expect(root?.dependencies).toEqual(Object.fromEntries(wanted.map(({ name, tested }) => [name, tested])))
  for (const [path, { integrity }] of Object.entries(locked))
    expect([path, integrity]).toEqual([path, own?.packages[path]?.integrity])
  expect(readPage('Dockerfile')).not.toMatch(/npm (install|i|add)\b/)
})

test.each([
  ['s3', 'PACKAGE_MISSING: Cannot use object storage', ['status', '--lake', 's3://bucket/lake']],
  [
    'postgres',
    'PACKAGE_MISSING: Cannot use PostgreSQL',
    ['export', '--lake', 'lake', '--to', 'postgres://127.0.0.1:1/firms'],
  ],
  ['temporal', 'PACKAGE_MISSING: Cannot use Temporal', ['worker', '--temporal', '127.0.0.1:1']],
] as const)('without the packages of %s a command that needs them says so', async (part, start, args) => {
  const cwd = await temporaryFolder()
  const env = withoutPart(part)
  await writeFile(join(cwd, 'a.jsonl'), '{"BasicDetails":{"InternalId":1,"CountryCode":"SE"}}\n')
  expect(
    (await cli(['convert', 'a.jsonl', '--lake', 'lake', '--content', 'companies'], { cwd, env })).code,
  ).toBe(0)
  const { code, stderr } = await cli(args, { cwd, env })
  expect(code).toBe(1)
  expect(stderr.split('\n')[0]).toBe(
    `error ${start}: its packages are not installed, "${installLine(part)}" installs them`,
  )
})

test('a sink whose packages are missing is refused before anything is loaded', async () => {
  const cwd = await temporaryFolder()
  await writeFile(join(cwd, 'a.jsonl'), '{"BasicDetails":{"InternalId":1,"CountryCode":"SE"}}\n')
  const args = ['convert', 'a.jsonl', '--lake', 'lake', '--sink', 'postgres://127.0.0.1:1/firms']
  expect((await cli(args, { cwd, env: withoutPart('postgres') })).stderr).toContain('error PACKAGE_MISSING: ')
  expect((await cli(['status', '--lake', 'lake'], { cwd })).stderr).toContain('error LAKE_NOT_FOUND: ')
})
