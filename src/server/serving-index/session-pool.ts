/** Sessions of one engine, shared by all requests; each statement has a time limit. */

import { ToolkitError } from '../../core/errors.ts'
import type { Engine, Session } from '../../lake/duckdb/engine.ts'
import { LeftBehind, orLeftBehind, stoppable } from '../../lake/duckdb/stoppable.ts'
import type { ProtectedInLake } from '../persons/person-tables.ts'
import type { DocumentKind, DocumentPlace, IndexDescription } from './index-form.ts'

type Work<T> = (session: Session) => Promise<T>
/** Who waits for a session. */
interface Waiting {
  readonly give: (slot: Slot) => void
  readonly refuse: (reason: unknown) => void
}
/** A place for a session: `null` until it is needed, and where the last one was of no use any more. */
type Slot = Session | null

export class SessionPool {
  readonly #openEngine: () => Promise<Engine>
  #engine: Engine
  readonly #free: Slot[]
  readonly #size: number
  readonly #waiting: Waiting[] = []
  #closed: Promise<void> | undefined
  /** Sessions whose statements did not obey, and are running still. */
  #left = 0

  private constructor(openEngine: () => Promise<Engine>, engine: Engine, size: number) {
    this.#openEngine = openEngine
    this.#engine = engine
    this.#size = size
    this.#free = Array.from({ length: size }, () => null)
  }

  /** @param openEngine is asked again when an engine is of no use any more */
  static async open(openEngine: () => Promise<Engine>, size: number): Promise<SessionPool> {
    return new SessionPool(openEngine, await openEngine(), size)
  }

  /**
   * Gives work a session of its own, waiting for one within its time.
   * @throws {ToolkitError} QUERY_FAILED when it takes too long; the signal's reason; whatever the work throws
   */
  async use<T>(work: Work<T>, { timeoutMs, signal }: IndexQueryOptions): Promise<T> {
    signal?.throwIfAborted()
    const end = new AbortController()
    const timer = setTimeout(() => end.abort(tookTooLong(timeoutMs)), timeoutMs)
    const pass = (): void => end.abort(signal?.reason)
    signal?.addEventListener('abort', pass, { once: true })
    try {
      return await this.#run(await this.#take(end.signal), work, end.signal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', pass)
    }
  }

  /** Waits for the work that has a session, refuses what waits for one, and closes the engine. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    for (const { refuse } of this.#waiting.splice(0)) refuse(isClosed())
    for (let taken = 0; taken < this.#size; taken += 1) {
      const slot = this.#free.pop()
      const session =
        slot === undefined
          ? await new Promise<Slot>((give, refuse) => this.#waiting.push({ give, refuse }))
          : slot
      session?.close()
    }
    if (this.#left === 0) this.#engine.close()
  }

  async #take(signal: AbortSignal): Promise<Slot> {
    if (this.#closed !== undefined) throw isClosed()
    const free = this.#free.pop()
    if (free !== undefined) return free
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal.reason)
      }
      const waiting: Waiting = {
        give: (slot) => {
          signal.removeEventListener('abort', leave)
          resolve(slot)
        },
        refuse: (reason) => {
          signal.removeEventListener('abort', leave)
          reject(reason)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
    })
  }

  #release(slot: Slot): void {
    const next = this.#waiting.shift()
    if (next) next.give(slot)
    else this.#free.push(slot)
  }

  async #run<T>(slot: Slot, work: Work<T>, signal: AbortSignal): Promise<T> {
    let session = slot
    try {
      const ready = session ?? (await this.#connect())
      session = ready
      return await orLeftBehind(
        stoppable(ready, signal, () => work(ready)),
        signal,
        () => this.#end(ready),
      )
    } catch (error) {
      if (error instanceof LeftBehind) {
        this.#left += 1
        session = null
      }
      if (session !== null && !(await works(session))) {
        session.close()
        session = null
      }
      throw signal.aborted ? signal.reason : error
    } finally {
      this.#release(session)
    }
  }

  /** Closes a session that was left behind, once its statement has ended. */
  #end(session: Session): void {
    this.#left -= 1
    session.close()
    if (this.#closed !== undefined && this.#left === 0) this.#engine.close()
  }

  async #connect(): Promise<Session> {
    try {
      const session = await this.#engine.connect()
      if (await works(session)) return session
    } catch {
      // A fatal error makes a whole engine useless: another one takes its place.
    }
    this.#engine = await this.#openEngine()
    return this.#engine.connect()
  }
}

const works = async (session: Session): Promise<boolean> => {
  try {
    return (await session.rows('SELECT 1 AS one')).length === 1
  } catch {
    return false
  }
}

const isClosed = (): ToolkitError =>
  new ToolkitError('QUERY_FAILED', 'Cannot run a query: the index is closed')

const tookTooLong = (timeoutMs: number): ToolkitError =>
  new ToolkitError('QUERY_FAILED', `Cannot answer: the query took longer than ${timeoutMs} ms`, { timeoutMs })

// An open serving index: read-only, locked down, shared by all requests.

export interface ServingIndex {
  readonly description: IndexDescription
  /** Whom the index's records protect. */
  readonly persons: ProtectedInLake
  /**
   * Runs queries on a session of its own; the index's tables stand in the schema `serving`. After
   * `timeoutMs`, or when the signal fires, the running statement is interrupted and the promise fails.
   * @throws {ToolkitError} QUERY_FAILED when it took too long
   */
  query<T>(use: (session: Session) => Promise<T>, options: IndexQueryOptions): Promise<T>
  /** Documents as they are stored, by their places, in that order, each without its line end. `leavingDocuments` reads them. */
  documents(kind: DocumentKind, places: readonly DocumentPlace[]): Promise<readonly Buffer[]>
  close(): Promise<void>
}
export interface IndexQueryOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}
