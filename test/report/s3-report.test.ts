/** A report in a bucket: one object that a browser shows. */

import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { report } from '../../src/jobs/report.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { cli } from '../cli/run-cli.ts'
import { LAKE, s3Bench } from '../storage/s3-bench.ts'

test('a report of a lake in a bucket goes into a bucket, as a page that a browser shows, over an earlier one', async (context) => {
  const { server } = await s3Bench(context)
  await convert({ from: fromRecords('one', [{ InternalId: 1, Name: 'x' }]), lake: LAKE })
  const to = 's3://lakes/pages/report.html'
  const first = await report({ lake: LAKE, to })
  expect(first).toMatchObject({ path: to, snapshot: 1 })
  const { stdout, code } = await cli(['report', '--lake', LAKE, '--to', to, '--max-age', '26h', '--json'])
  expect([code, JSON.parse(stdout).path]).toEqual([0, to])
  const { endpoint, accessKey: accessKeyId, secretKey: secretAccessKey } = server
  const client = new S3Client({
    ...{ endpoint, region: 'us-east-1', forcePathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  })
  const object = await client.send(new GetObjectCommand({ Bucket: 'lakes', Key: 'pages/report.html' }))
  expect(object.ContentType).toBe('text/html; charset=utf-8')
  const page = await object.Body?.transformToString()
  expect(page).toContain('Age of the newest load')
  expect(page).toMatch(/<\/html>\n$/)
  client.destroy()
  await expect(report({ lake: LAKE, to: 's3://no-such-bucket/report.html' })).rejects.toMatchObject({
    code: 'STORAGE_REFUSED',
  })
})
