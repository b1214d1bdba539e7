/** The service of embeddings that a server uses, by its environment. */

import { ToolkitError } from '../../core/errors.ts'
import type { Embedder } from './embedder.ts'
import { serviceEmbedder } from './service-embedder.ts'

/**
 * The service at FIRMLAKE_EMBEDDER_URL with the model FIRMLAKE_EMBEDDER_MODEL; `undefined` where none is set. Where the
 * service expects a key it is FIRMLAKE_EMBEDDER_KEY; FIRMLAKE_EMBEDDER_LEAST_SIMILARITY fits the model's scale.
 * @throws {ToolkitError} USAGE, ADDRESS_REFUSED, TOKEN_INVALID, EMBEDDER_FAILED
 */
export const chooseEmbedder = async (
  environment: Readonly<Record<string, string | undefined>>,
  signal?: AbortSignal,
): Promise<Embedder | undefined> => {
  const url = environment.FIRMLAKE_EMBEDDER_URL ?? ''
  const model = environment.FIRMLAKE_EMBEDDER_MODEL ?? ''
  if (url === '' && model === '') return undefined
  if (url === '' || model === '') {
    const missing = url === '' ? 'FIRMLAKE_EMBEDDER_URL' : 'FIRMLAKE_EMBEDDER_MODEL'
    throw new ToolkitError('USAGE', `Cannot use an embedding service: ${missing} is not set, expected both`)
  }
  return serviceEmbedder(
    {
      url,
      model,
      key: environment.FIRMLAKE_EMBEDDER_KEY,
      minSimilarity: similarityOf(environment.FIRMLAKE_EMBEDDER_LEAST_SIMILARITY),
    },
    signal,
  )
}

const similarityOf = (text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  if (value >= -1 && value <= 1) return value
  throw new ToolkitError(
    'USAGE',
    'Cannot use FIRMLAKE_EMBEDDER_LEAST_SIMILARITY: it is not a number from -1 to 1',
  )
}
