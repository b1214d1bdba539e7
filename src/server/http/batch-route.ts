/** GET /v2/batches/batch-file/{batchFileId}: a file or a range of it. */

import { type FileHandle, open } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { OPERATIONS } from '../../contract/requests.ts'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import type { BatchShelf, ShelvedFile } from '../batches/batch-shelf.ts'
import { wantedOf } from './byte-range.ts'
import { callerOf } from './listing-routes.ts'
import { sendEmpty, sendProblem } from './replies.ts'

/** `{batchFileId}` as the router spells it. */
const URL_PATTERN = OPERATIONS.batchFile.path.replace(/\{(\w+)\}/, ':$1')

/** `null` where newer files have just taken its place. */
const openWhole = async ({ file, path }: ShelvedFile): Promise<FileHandle | null> => {
  const handle = await open(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  })
  if (handle === null) return null
  try {
    const { size } = await handle.stat()
    if (size === file.SizeInBytes) return handle
    throw new ToolkitError(
      'LAKE_DAMAGED',
      `Cannot send "${path}": it has ${size} bytes, expected ${file.SizeInBytes}`,
      { path },
    )
  } catch (error) {
    await handle.close()
    throw error
  }
}

const sendFile = async (request: FastifyRequest, reply: FastifyReply, shelved: ShelvedFile) => {
  const { sha256, SizeInBytes: sizeBytes } = shelved.file
  const etag = `"${sha256}"`
  const wanted = wantedOf(request.headers, sizeBytes, etag)
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    // RFC 9530: of the whole file, in a part too.
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  })
  if (wanted.kind === 'precondition failed') return sendEmpty(reply, 412)
  if (wanted.kind === 'not modified') return sendEmpty(reply, 304)
  if (wanted.kind === 'unsatisfiable')
    return sendEmpty(reply.header('content-range', `bytes */${sizeBytes}`), 416)
  const handle = await openWhole(shelved)
  if (handle === null) return sendProblem(reply.removeHeader('etag').removeHeader('repr-digest'), 404)
  const [first, last] = wanted.kind === 'part' ? [wanted.first, wanted.last] : [0, sizeBytes - 1]
  reply.type('application/octet-stream').header('content-length', last - first + 1)
  if (wanted.kind === 'part') reply.code(206).header('content-range', `bytes ${first}-${last}/${sizeBytes}`)
  if (request.method === 'HEAD') {
    await handle.close()
    return reply.send()
  }
  // The stream closes the file, also when the connection ends first.
  return reply.send(handle.createReadStream({ start: first, end: last, highWaterMark: 1 << 18 }))
}

export const addBatchRoute = (app: FastifyInstance, batches: BatchShelf): void => {
  app.route<{ Params: { batchFileId: string } }>({
    method: ['GET', 'HEAD'],
    url: URL_PATTERN,
    config: { operation: 'batchFile' },
    handler: async (request, reply) => {
      const shelved = await batches.find(callerOf(request), request.params.batchFileId)
      return shelved ? sendFile(request, reply, shelved) : sendProblem(reply, 404)
    },
  })
}
