import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import {
  absoluteAddress,
  BUCKET_FORM,
  bucketScheme,
  folderOf,
  isBucket,
  splitBucket,
} from '../../src/core/lake-address.ts'
import { codeWith } from '../support/source-code.ts'

test('bucketScheme knows an address in a bucket by its scheme, in any letter case and with one slash', () => {
  expect(['s3://b/lake', 'S3://b', 's3:/b'].map(bucketScheme)).toEqual(['s3', 's3', 's3'])
  expect(['./lake', '/data/s3', 'gs://b/lake', 's3', 's3:lake'].filter(isBucket)).toEqual([])
})

test('absoluteAddress leaves an address in a bucket as it is', () => {
  expect(absoluteAddress('s3://b/lake')).toBe('s3://b/lake')
  expect(absoluteAddress('lake')).toBe(resolve('lake'))
})

test('folderOf gives the folder or prefix that holds a file', () => {
  expect(folderOf('s3://b/in/a.br')).toBe('s3://b/in')
  expect(folderOf('in/a.br')).toBe('in')
})

test('splitBucket gives the bucket and the prefix without slashes at its ends', () => {
  expect(splitBucket('s3://b/in/lake/')).toEqual({ bucket: 's3://b', prefix: 'in/lake' })
  expect(splitBucket('s3://b')).toEqual({ bucket: 's3://b', prefix: '' })
  expect(splitBucket('/data/lake')).toBeUndefined()
})

test('nobody asks for a kind of bucket outside the storage and the declaration', async () => {
  expect(BUCKET_FORM).toBe('s3://bucket/prefix')
  const asking = await codeWith(/['"`/^]s3\b/, /^(storage\/|core\/optional-parts\.ts$)/)
  expect(asking).toEqual([])
})

test('help texts name a kind of bucket in examples of commands alone', async () => {
  const named = await codeWith(/\bs3:/, /^(storage\/|core\/optional-parts\.ts$)/)
  expect(
    named.filter(
      (line) => !/^cli\/commands\/.* s3:\/\/(bucket|backups)\/lake\b|,s3:\/\/bucket\/lakes/.test(line),
    ),
  ).toEqual([])
})
