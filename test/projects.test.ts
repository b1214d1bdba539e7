import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { projectOf, testFiles } from './projects.ts'

const FILE = 'test/room/one.test.ts'

/** Sorts a file of tests with these imports; its helper imports what `helper` says. */
const sorted = (imports: string, helper = ''): string =>
  projectOf(FILE, (path) => {
    const strings: Readonly<Record<string, string>> = { [FILE]: imports, 'test/room/helper.ts': helper }
    return strings[path] ?? ''
  })

test.each([
  ['nothing but code', `import { x } from '../../src/load/x.ts'`, 'unit'],
  ['a process', `import { spawn } from 'node:child_process'`, 'integration'],
  ['a listener', `import { createServer } from 'node:net'`, 'integration'],
  ['our own server', `import { openServer } from '../../src/server/deep/http/open-server.ts'`, 'integration'],
  ['whole runs', `import { openBench } from '../pipeline/batch-bench.ts'`, 'integration'],
  ['a small disk', `import { smallDisk } from '../support/small-disk.ts'`, 'durability'],
  ['an S3 server', `import { startS3Server } from '../support/s3-server.ts'`, 'peers'],
  ['a peer and a disk', `import '../support/small-disk.ts'\nimport '../support/readers.ts'`, 'peers'],
])('projectOf sorts a file by what it uses: %s', (_, imports, project) => {
  expect(sorted(imports)).toBe(project)
  expect(sorted(`import { help } from './helper.ts'`, imports)).toBe(project)
})

test('projectOf does not follow imports into what is tested', () => {
  const read = (path: string): string => {
    if (path === FILE) return `import { fetchVerified } from '../../src/support/fetch.ts'`
    throw new Error(`"${path}" was read`)
  }
  expect(projectOf(FILE, read)).toBe('unit')
})

test('projectOf takes kills and damage by their folders', () => {
  expect(projectOf('test/durability/kill.test.ts', () => '')).toBe('durability')
  expect(projectOf('test/campaign/damage.test.ts', () => '')).toBe('durability')
})

test('projectOf takes what is long by the name of its file', () => {
  expect(projectOf('test/room/one.long.test.ts', () => '')).toBe('long')
})

test('testFiles puts each file of tests into one project, and none is empty', () => {
  const projects = testFiles(fileURLToPath(new URL('..', import.meta.url)))
  for (const files of Object.values(projects)) expect(files).not.toEqual([])
  const all = Object.values(projects).flat()
  expect(new Set(all).size).toBe(all.length)
  expect(projects.unit).toContain('test/projects.test.ts')
  expect(projects.peers).toContain('test/storage/s3-storage.test.ts')
})
