/** The key of hashed columns: what a lake knows of it, and HMAC-SHA-256 in DuckDB's SQL. */

import { createHash, createHmac } from 'node:crypto'
import { ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import type { Session } from '../duckdb/engine.ts'

const BLOCK_BYTES = 64
/** A shorter one could be found by trying. */
const LEAST_BYTES = 16

/** @throws {ToolkitError} HASH_KEY_WRONG for a short one */
export const readHashKey = (key: string | Uint8Array): Buffer => {
  const bytes = typeof key === 'string' ? Buffer.from(key.trim()) : Buffer.from(key)
  if (bytes.length >= LEAST_BYTES) return bytes
  throw new ToolkitError(
    'HASH_KEY_WRONG',
    `Cannot hash with a key of ${bytes.length} bytes: expected at least ${LEAST_BYTES}, such as the output of "openssl rand -hex 32"`,
  )
}

/**
 * The key that the environment names: every process of a run has its own environment, and no plan holds a key.
 *
 * @param env `FIRMLAKE_HASH_KEY`, else `FIRMLAKE_HASH_KEY_FILE`
 * @throws {ToolkitError} HASH_KEY_WRONG, TEXT_NOT_UTF8
 */
export const hashKeyOf = async (
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Buffer | undefined> => {
  const { FIRMLAKE_HASH_KEY: key, FIRMLAKE_HASH_KEY_FILE: file } = env
  if (key) return readHashKey(key)
  if (!file) return undefined
  const text = await readUserText(file).catch((error: unknown) => {
    if (error instanceof ToolkitError) throw error
    throw new ToolkitError('HASH_KEY_WRONG', `Cannot read the hash key in "${file}"`, { file }, error)
  })
  return readHashKey(text)
}

/** An id of a key that does not disclose it. */
export const keyIdOf = (key: Buffer): string =>
  createHmac('sha256', key).update('firmlake key id').digest('hex').slice(0, 12)

/** The macro that hashes a text, by its name in SQL. */
export const HASH = 'firmlake_hash'

const blob = (bytes: Buffer): string =>
  `'${[...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'::BLOB`

const padded = (key: Buffer, pad: number): Buffer => {
  const block = Buffer.alloc(BLOCK_BYTES)
  if (key.length > BLOCK_BYTES) createHash('sha256').update(key).digest().copy(block)
  else key.copy(block)
  return block.map((byte) => byte ^ pad) as Buffer
}

/** Makes the macro for all sessions of an engine in memory: the key stands in no other statement. */
export const makeHash = async (session: Session, key: Buffer): Promise<void> => {
  const inner = `unhex(sha256(${blob(padded(key, 0x36))} || encode(text)))`
  try {
    await session.run(
      `CREATE OR REPLACE MACRO ${HASH}(text) AS sha256(${blob(padded(key, 0x5c))} || ${inner})`,
    )
  } catch {
    // DuckDB's message could quote the key.
    throw new ToolkitError('ENGINE_FAILED', 'Cannot prepare DuckDB for hashed columns')
  }
}
