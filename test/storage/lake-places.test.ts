import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { liesIn } from '../../src/storage/open-storage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a lake lies in a folder where it really is', async () => {
  const folder = await temporaryFolder()
  const [lakes, others] = [join(folder, 'lakes'), join(folder, 'lakes2')]
  for (const one of [join(lakes, 'a'), join(others, 'b')]) await mkdir(one, { recursive: true })
  await symlink(join(others, 'b'), join(lakes, 'out'))
  await symlink(lakes, join(folder, 'way'))
  const found = async (lake: string, ...places: string[]) => liesIn(lake, places)
  expect(await found(join(lakes, 'a'), lakes)).toBe(true)
  expect(await found(lakes, lakes)).toBe(true)
  expect(await found(`${lakes}/a/`, `${lakes}/`)).toBe(true)
  expect(await found(join(folder, 'way', 'a'), lakes)).toBe(true)
  expect(await found(join(lakes, 'a'), join(folder, 'way'))).toBe(true)
  expect(await found(join(lakes, 'a'), 's3://bucket', others, lakes)).toBe(true)
  expect(await found(join(lakes, 'out'), lakes)).toBe(false)
  expect(await found(`${lakes}/../lakes2/b`, lakes)).toBe(false)
  expect(await found(join(others, 'b'), lakes)).toBe(false)
  expect(await found(folder, lakes)).toBe(false)
  expect(await found(join(lakes, 'none'), lakes)).toBe(false)
  expect(await found(join(lakes, 'a'))).toBe(false)
})

test('a lake in a bucket lies below a prefix that ends at a slash', async () => {
  expect(await liesIn('s3://bucket/pre/lake', ['s3://bucket/pre'])).toBe(true)
  expect(await liesIn('s3://bucket/pre', ['s3://bucket/pre/'])).toBe(true)
  expect(await liesIn('s3://bucket/pre', ['s3://bucket'])).toBe(true)
  expect(await liesIn('s3://bucket/prefix2/lake', ['s3://bucket/pre'])).toBe(false)
  expect(await liesIn('s3://bucket2/pre/lake', ['s3://bucket/pre'])).toBe(false)
  expect(await liesIn('s3://bucket/pre/lake', ['/bucket/pre'])).toBe(false)
  await expect(liesIn('s3://bucket/pre/../other', ['s3://bucket/pre'])).rejects.toMatchObject({
    code: 'USAGE',
  })
})
