/** Limits of the server. docs/serving.md#limits lists them with what sets them. */

/** Times in milliseconds, sizes in bytes. */
export const SERVER_LIMITS = {
  /** Longest body of a request. */
  bodyBytes: 1 << 20,
  /** Most messages of one refusal. */
  messages: 100,
  /** Longest wait for a request's head. */
  headMs: 10_000,
  /** Longest wait for a whole request. */
  requestMs: 30_000,
  /** How often connections are checked for these two. */
  checkEveryMs: 2000,
  /** Longest time in which a client takes nothing of its answer. */
  stalledMs: 60_000,
  /** How long an idle connection stays open. */
  idleMs: 60_000,
  /** How long a stop waits for requests under way. */
  stopMs: 10_000,
  /** Longest time of one query. */
  queryMs: 30_000,
  /** Connections at once; a further one is closed. */
  connections: 500,
  /** Requests of one token under way at once. */
  requestsAtOnce: 32,
  /** Failed sign-ins of one address: so many at once, then so many a second. */
  failedSignIns: { atOnce: 20, perSecond: 1 },
  /** Sessions of the explorer's page: the longest time without use, the longest in all, the most of one token. */
  sessions: { idleMs: 60 * 60_000, longestMs: 12 * 3_600_000, perToken: 100 },
  /** Least characters of a token. */
  tokenCharacters: 16,
  /** How long a change of the file of tokens may go unseen. */
  tokensEveryMs: 1000,
} as const
