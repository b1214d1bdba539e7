/** GET /v2/batches/batch-file/{batchFileId}: a file or a range of it. */

import { type FileHandle, open } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { OPERATIONS } from '../../contract/requests.ts'
import { systemCode } from '../../core/errors.ts'
import { type BatchStore, ProvenFiles, type StoredBatchFile } from '../batch-files/batch-store.ts'
import { callerOf } from './listing-routes.ts'
import { sendEmpty, sendProblem } from './replies.ts'
import { requestedRange } from './requested-range.ts'

/** `{batchFileId}` as the router spells it. */
const URL_PATTERN = OPERATIONS.batchFile.path.replace(/\{(\w+)\}/, ':$1')

/** `null` where newer files have just taken its place. */
const openOrNot = (path: string): Promise<FileHandle | null> =>
  open(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  })

const sendFile = async (
  request: FastifyRequest,
  reply: FastifyReply,
  stored: StoredBatchFile,
  proven: ProvenFiles,
) => {
  const { sha256, SizeInBytes: sizeBytes } = stored.file
  const etag = `"${sha256}"`
  const isHead = request.method === 'HEAD'
  // A range is of GET alone (RFC 9110, 14.2): HEAD describes the whole file.
  const headers = isHead ? { ...request.headers, range: undefined } : request.headers
  const requested = requestedRange(headers, sizeBytes, etag)
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    // RFC 9530: of the whole file, in a part too.
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  })
  if (requested.kind === 'precondition failed') return sendEmpty(reply, 412)
  if (requested.kind === 'not modified') return sendEmpty(reply, 304)
  if (requested.kind === 'unsatisfiable')
    return sendEmpty(reply.header('content-range', `bytes */${sizeBytes}`), 416)
  const handle = await openOrNot(stored.path)
  if (handle === null) return sendProblem(reply.removeHeader('etag').removeHeader('repr-digest'), 404)
  try {
    await proven.assertLength(handle, stored)
    if (isHead) await handle.close()
    if (requested.kind === 'whole') {
      withLength(reply, sizeBytes)
      return reply.send(isHead ? undefined : proven.whole(handle, stored))
    }
    const { first, last } = requested
    const part = await proven.part(handle, stored, first, last)
    withLength(reply, last - first + 1)
      .code(206)
      .header('content-range', `bytes ${first}-${last}/${sizeBytes}`)
    return reply.send(part)
  } catch (error) {
    await handle.close()
    throw error
  }
}

const withLength = (reply: FastifyReply, bytes: number): FastifyReply =>
  reply.type('application/octet-stream').header('content-length', bytes)

export const addBatchRoute = (app: FastifyInstance, batches: BatchStore): void => {
  const proven = new ProvenFiles()
  app.route<{ Params: { batchFileId: string } }>({
    method: ['GET', 'HEAD'],
    url: URL_PATTERN,
    config: { operation: 'batchFile' },
    handler: async (request, reply) => {
      const stored = await batches.find(callerOf(request), request.params.batchFileId)
      return stored ? sendFile(request, reply, stored, proven) : sendProblem(reply, 404)
    },
  })
}
