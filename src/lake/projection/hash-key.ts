/** The key of hashed columns: what a lake knows of it, and HMAC-SHA-256 in DuckDB's SQL. */

import { createHash, createHmac } from 'node:crypto'
import { ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import type { Session } from '../duckdb/engine.ts'

const BLOCK_BYTES = 64
/** A shorter or simpler one could be found by trying. 16 random bytes have about 60 bits by the measure below. */
const MIN_BYTES = 16
const MIN_BITS = 50
const EXPECTED = 'such as the output of "openssl rand -hex 32"'

/** Shannon's entropy of values by how often each comes, in bits a value. */
const entropy = (values: readonly number[]): number => {
  const counts = [...Map.groupBy(values, (value) => value).values()]
  return counts.reduce(
    (sum, { length }) => sum - (length / values.length) * Math.log2(length / values.length),
    0,
  )
}

/** A text that is repeated counts once, and `abcdefgh` has one step from byte to byte. */
const bitsOf = (key: Buffer): number => {
  const period = key.findIndex((_, at) => at > 0 && key.subarray(at).equals(key.subarray(0, -at)))
  const bytes = [...key.subarray(0, period === -1 ? undefined : period)]
  const steps = bytes.slice(1).map((byte, at) => byte - (bytes[at] ?? 0))
  return bytes.length * Math.min(entropy(bytes), entropy(steps))
}

/** @throws {ToolkitError} HASH_KEY_WRONG for a short one, and one that repeats itself */
export const readHashKey = (key: string | Uint8Array): Buffer => {
  const bytes = typeof key === 'string' ? Buffer.from(key.trim()) : Buffer.from(key)
  if (bytes.length < MIN_BYTES)
    throw new ToolkitError(
      'HASH_KEY_WRONG',
      `Cannot hash with a key of ${bytes.length} bytes: expected at least ${MIN_BYTES}, ${EXPECTED}`,
    )
  if (bitsOf(bytes) < MIN_BITS)
    throw new ToolkitError(
      'HASH_KEY_WRONG',
      `Cannot hash with a key that is easily guessed, because its bytes repeat or count up: expected a random one, ${EXPECTED}`,
    )
  return bytes
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
