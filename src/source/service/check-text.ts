/** Whether the bytes of a body are text: a damaged byte must not become another name or a bad record. */

import { isUtf8 } from 'node:buffer'
import { sha256Of } from '../../support/hash.ts'
import { Retry } from './answer.ts'

/** @throws {Retry} where a body is no UTF-8 */
export const checkText = (body: Buffer): void => {
  if (!isUtf8(body)) throw new Retry('the answer is no UTF-8')
}

/**
 * Checks the bodies of records that all attempts of one request bring: as {@link checkText}, unless the same bytes came
 * before. Then they are not damage but what the service has, and loading quarantines the record.
 */
export const recordsCheck = (): ((body: Buffer) => void) => {
  let odd: string | undefined
  return (body) => {
    if (isUtf8(body)) return
    const sha256 = sha256Of(body)
    if (sha256 !== odd) {
      odd = sha256
      checkText(body)
    }
  }
}
