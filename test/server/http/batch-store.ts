/** A store of one batch file, `1`, with a text of one's own. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BatchStore } from '../../../src/server/batch-files/batch-store.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export const CONTENT = 'abcdefghijklmnopqrstuvwxyz'

export const storeOf = async (content: string): Promise<BatchStore> => {
  const path = join(await temporaryFolder(), 'file.jsonl.br')
  await writeFile(path, content)
  const file = {
    BatchFileId: '1',
    FileName: 'file.jsonl.br',
    Content: 'Companies',
    CreatedAt: '2026-11-21T12:00:00.000Z',
    SizeInBytes: content.length,
    Count: 1,
    sha256: sha256Of(content),
    readers: 'all',
  } as const
  return {
    listing: async () => ({ BatchFiles: [] }),
    find: async (_caller, id) => (id === '1' ? { file, path } : undefined),
  }
}
