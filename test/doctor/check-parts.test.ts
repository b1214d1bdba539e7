import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { installLine, type Resolve } from '../../src/core/optional-parts.ts'
import { checkParts } from '../../src/doctor/check-machine.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Packages by name and version, as an installation has them: the module stands below a folder with a package.json of its own. */
const installed = async (versions: Readonly<Record<string, string>>): Promise<Resolve> => {
  const folder = await temporaryFolder()
  for (const [name, version] of Object.entries(versions)) {
    const modules = join(folder, name, 'dist', 'esm')
    await mkdir(modules, { recursive: true })
    await writeFile(join(modules, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, name, 'package.json'), JSON.stringify({ name, version }))
  }
  return (name) => {
    if (versions[name] === undefined) throw new Error(`no package ${name}`)
    return pathToFileURL(join(folder, name, 'dist', 'esm', 'index.js')).href
  }
}

const partOf = (findings: ReturnType<typeof checkParts>, part: string) =>
  findings.find(({ about }) => about === part)

test('checkParts says the versions that are installed', async () => {
  const resolve = await installed({ pg: '8.24.0', 'pg-copy-streams': '7.0.1' })
  expect(partOf(checkParts(new Set(), resolve), 'postgres')).toEqual({
    about: 'postgres',
    state: 'well',
    says: 'PostgreSQL (pg 8.24.0, pg-copy-streams 7.0.1): PostgreSQL as a target, `postgres://…`',
  })
})

test('checkParts says of a wrong version which one is expected, and the line that installs it', async () => {
  const resolve = await installed({ pg: '7.18.2', 'pg-copy-streams': '7.0.0' })
  const wrong = {
    about: 'postgres',
    says: 'PostgreSQL is installed as pg 7.18.2, expected ^8.23.1',
    mend: installLine('postgres'),
  }
  expect(partOf(checkParts(new Set(), resolve), 'postgres')).toEqual({ ...wrong, state: 'absent' })
  expect(partOf(checkParts(new Set(['postgres']), resolve), 'postgres')).toEqual({
    ...wrong,
    state: 'missing',
  })
})

test('checkParts says which packages of a part are missing', async () => {
  const resolve = await installed({ pg: '8.23.1' })
  const findings = checkParts(new Set(['s3']), resolve)
  expect(partOf(findings, 'postgres')).toMatchObject({
    state: 'absent',
    says: expect.stringContaining('installed without pg-copy-streams'),
    mend: installLine('postgres'),
  })
  expect(partOf(findings, 's3')).toMatchObject({ state: 'missing', mend: installLine('s3') })
  expect(partOf(findings, 'temporal')).toMatchObject({ state: 'absent' })
})
