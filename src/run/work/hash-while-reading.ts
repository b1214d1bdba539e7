/** Hashes a source that can be read only once, while it is read. */

import { createHash } from 'node:crypto'
import type { Fingerprint, Source } from '../../core/source.ts'

export interface HashedSource {
  readonly source: Source
  /** Length and hash of what was read; of the whole source once it has been read to its end. */
  readonly fingerprint: () => Fingerprint
}

export const hashWhileReading = (source: Source): HashedSource => {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    source: {
      ...source,
      open: async function* (signal) {
        for await (const chunk of source.open(signal)) {
          hash.update(chunk)
          bytes += chunk.length
          yield chunk
        }
      },
    },
    fingerprint: () => ({ bytes, sha256: hash.copy().digest('hex') }),
  }
}
