import { describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/open-storage.ts'
import { stubEnvironment } from '../support/s3-server.ts'

describe('an address', () => {
  test.each([
    's3://',
    's3:///prefix',
    's3://bucket/../other',
    's3://bucket/a/./b',
    's3://bucket/a//b',
    's3://bucket/a?versionId=1',
    's3://bucket/a#b',
    's3://bucket/a\\b',
    's3://b',
    's3://user:secret@bucket/a',
    's3://-bucket/a',
    'S3:/bucket/a',
  ])('%s is refused', (address) => {
    const refused = () => openStorage(address)
    expect(refused).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(refused).not.toThrow(/user:secret/)
  })

  test.each([
    ['s3://bucket', 's3://bucket'],
    ['s3://bucket/', 's3://bucket'],
    ['s3://bucket/a/b//', 's3://bucket/a/b'],
    ['S3://my.bucket-1/with space/ünï', 's3://my.bucket-1/with space/ünï'],
  ])('%s is %s to other tools', (address, uri) => {
    expect(openStorage(address)).toMatchObject({ address, uri })
  })

  test('has a work folder of its own for each endpoint and prefix, whose name tells the bucket', () => {
    const local = (address: string, environment: Record<string, string | undefined> = {}): string => {
      stubEnvironment({ FIRMLAKE_WORK_DIR: '/work', AWS_ENDPOINT_URL_S3: 'http://one:9000', ...environment })
      return openStorage(address).local
    }
    const folders = [
      local('s3://bucket/a'),
      local('s3://bucket/b'),
      local('s3://bucket/a', { AWS_ENDPOINT_URL_S3: 'http://two:9000' }),
      local('s3://bucket/a', { AWS_ENDPOINT_URL_S3: undefined, AWS_PROFILE: 'mine' }),
      local('s3://bucket/a', { AWS_ENDPOINT_URL_S3: undefined, AWS_PROFILE: 'other' }),
    ]
    expect(new Set(folders).size).toBe(folders.length)
    expect(local('s3://bucket/a/')).toBe(folders[0])
    expect(folders[0]).toMatch(/^\/work\/bucket-a-[0-9a-f]{16}$/)
    expect(local('s3://bucket/a', { FIRMLAKE_WORK_DIR: undefined, XDG_CACHE_HOME: '/cache' })).toMatch(
      /^\/cache\/firmlake\/bucket-a-/,
    )
  })
})
