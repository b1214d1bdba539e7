import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  createIfAbsent,
  EarlySync,
  fsyncFile,
  fsyncFolders,
  LineAppender,
  makeFolder,
  moveIntoPlace,
  replaceDurably,
} from '../../src/support/durable-files.ts'
import { temporaryFolder } from './temporary-folder.ts'

test('createIfAbsent writes a whole file and leaves nothing else', async () => {
  const folder = await temporaryFolder()
  expect(await createIfAbsent(join(folder, 'a'), 'first')).toBe(true)
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('first')
  expect(await readdir(folder)).toEqual(['a'])
})

test('createIfAbsent leaves an existing file as it is', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'a'), 'first')
  expect(await createIfAbsent(join(folder, 'a'), 'second')).toBe(false)
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('first')
  expect(await readdir(folder)).toEqual(['a'])
})

test('createIfAbsent lets exactly one of many at once win', async () => {
  const folder = await temporaryFolder()
  const wins = await Promise.all(
    Array.from({ length: 30 }, (_, n) => createIfAbsent(join(folder, 'a'), `${n}`)),
  )
  expect(wins.filter(Boolean)).toHaveLength(1)
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe(`${wins.indexOf(true)}`)
})

test('createIfAbsent throws the error of the system when the folder is missing', async () => {
  const folder = await temporaryFolder()
  await expect(createIfAbsent(join(folder, 'no', 'a'), '')).rejects.toMatchObject({ code: 'ENOENT' })
})

test('replaceDurably writes over an older file', async () => {
  const folder = await temporaryFolder()
  await replaceDurably(join(folder, 'a'), 'first')
  await replaceDurably(join(folder, 'a'), 'second')
  expect(await readFile(join(folder, 'a'), 'utf8')).toBe('second')
  expect(await readdir(folder)).toEqual(['a'])
})

test('replaceDurably leaves no temporary file where it fails', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'a'))
  await expect(replaceDurably(join(folder, 'a'), 'first')).rejects.toMatchObject({ code: 'EISDIR' })
  expect(await readdir(folder)).toEqual(['a'])
})

test('makeFolder makes the folders above and takes an existing one', async () => {
  const folder = await temporaryFolder()
  await makeFolder(join(folder, 'a', 'b'))
  await makeFolder(join(folder, 'a', 'b'))
  await fsyncFolders([folder, join(folder, 'a'), folder])
  expect(await readdir(join(folder, 'a'))).toEqual(['b'])
})

test('moveIntoPlace makes the folders above the new place', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'a'), 'x')
  await fsyncFile(join(folder, 'a'))
  expect(await moveIntoPlace(join(folder, 'a'), join(folder, 'b', 'c', 'a'))).toBe(true)
  expect(await readFile(join(folder, 'b', 'c', 'a'), 'utf8')).toBe('x')
})

test('moveIntoPlace says when there is nothing to move', async () => {
  const folder = await temporaryFolder()
  expect(await moveIntoPlace(join(folder, 'a'), join(folder, 'b', 'a'))).toBe(false)
})

test('LineAppender cuts a torn line and appends in the order of calls', async () => {
  const path = join(await temporaryFolder(), 'lines')
  await writeFile(path, 'one\ntor')
  const lines = await LineAppender.open(path, 4)
  await Promise.all([lines.append('two'), lines.append('three')])
  await lines.close()
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\n')
})

test('LineAppender takes nothing more after a failure', async () => {
  const path = join(await temporaryFolder(), 'lines')
  await writeFile(path, '')
  const lines = await LineAppender.open(path, 0)
  await lines.close()
  await expect(lines.append('one')).rejects.toThrow()
  await expect(lines.append('two')).rejects.toThrow()
})

const MEBIBYTE = 1024 ** 2

test('EarlySync syncs once for every 32 MiB, one at a time', async () => {
  const ends: (() => void)[] = []
  const early = new EarlySync({ datasync: () => new Promise((resolve) => ends.push(resolve)) })
  early.wrote(31 * MEBIBYTE)
  expect(ends).toHaveLength(0)
  early.wrote(MEBIBYTE)
  expect(ends).toHaveLength(1)
  early.wrote(64 * MEBIBYTE)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await early.settle()
  early.wrote(1)
  expect(ends).toHaveLength(2)
})

test('EarlySync tells of a failed sync also when a later one goes well', async () => {
  const outcomes = [Promise.reject(new Error('the disk is gone')), Promise.resolve()]
  const early = new EarlySync({ datasync: () => outcomes.shift() ?? Promise.resolve() })
  early.wrote(32 * MEBIBYTE)
  await expect(early.settle()).rejects.toThrow('the disk is gone')
  early.wrote(32 * MEBIBYTE)
  await expect(early.settle()).rejects.toThrow('the disk is gone')
})
