/** Repeats the decoding of one stream until the feed is at its end. */

import type { ByteFeed } from './byte-feed.ts'
import { MAX_EMPTY_STREAMS } from './decode-limits.ts'
import { trailingAt } from './stream-fault.ts'

/**
 * Decodes stream after stream, at least one; `decodeOne` leaves the feed at the first byte after its stream.
 *
 * @throws {StreamFault} of `decodeOne`; `trailing` at the first of too many streams without content in a row
 */
export async function* everyStream(
  feed: ByteFeed,
  decodeOne: (feed: ByteFeed) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let firstEmpty = 0
  let emptyInRow = 0
  do {
    const start = feed.position()
    let given = false
    for await (const chunk of decodeOne(feed)) {
      given = true
      yield chunk
    }
    if (!given && emptyInRow === 0) firstEmpty = start
    emptyInRow = given ? 0 : emptyInRow + 1
    if (emptyInRow > MAX_EMPTY_STREAMS) throw trailingAt(firstEmpty)
  } while ((await feed.peek(1)).length > 0)
}
