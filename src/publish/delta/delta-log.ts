/**
 * The log of one published table: what its commits and its newest checkpoint say, and the next commit. Every version
 * is created only if it is not there, and never written again. Knows actions, not snapshots.
 */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { TABLE_FORMATS } from '../../core/table-formats.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import type { Storage } from '../../storage/storage.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { PRIVATE_FILE } from '../../support/file-modes.ts'
import { isLeftover } from '../../support/process-identity.ts'
import type { ShownSnapshot } from '../table-files.ts'
import { type Action, isKnownProtocol, isOwnEngine, type LoggedMetaData, parseAction } from './actions.ts'
import { copyCheckpoint, streamCheckpoint, streamFiles, streamUnknownFiles } from './checkpoint.ts'
import type { LogForm, LoggedFile } from './log-form.ts'

/** A checkpoint is made once so many versions have come since the last one. */
const VERSIONS_PER_CHECKPOINT = 10

const numbered = (version: number): string => String(version).padStart(20, '0')
const CHECKPOINT = /^(\d{20})\.checkpoint\.parquet$/
const COMMIT = /^(\d{20})\.json$/

export const logFolder = ({ root }: LogForm): string => `${root}/${TABLE_FORMATS.delta.logFolder}`

/** Whether a table has a log. */
export const hasLog = async (storage: Storage, form: LogForm): Promise<boolean> =>
  (await storage.stat(`${logFolder(form)}/${numbered(0)}.json`)) !== null ||
  (await storage.stat(`${logFolder(form)}/_last_checkpoint`)) !== null

const takeFile = (files: Map<string, LoggedFile>, action: Action): void => {
  if (action.kind === 'add') files.set(action.name, action.file)
  if (action.kind === 'remove') files.delete(action.name)
}

export interface DeltaLogOptions {
  readonly storage: Storage
  readonly session: Session
  readonly form: LogForm
  /** Folder of this machine for copies of the log. */
  readonly scratch: string
}

export class DeltaLog {
  readonly #options: DeltaLogOptions
  /** Read only where they are asked for: there may be millions. */
  #files: Map<string, LoggedFile> | undefined
  /** Copies of the commits since the checkpoint, for the next one. */
  readonly #commits: string[] = []
  #version = -1
  #checkpoint: { readonly version: number; readonly path: string } | undefined
  #metaData: LoggedMetaData | undefined
  #shown: ShownSnapshot | null = null

  private constructor(options: DeltaLogOptions) {
    this.#options = options
  }

  /** @throws {ToolkitError} PUBLISH_CONFLICT */
  static async open(options: DeltaLogOptions): Promise<DeltaLog> {
    const log = new DeltaLog(options)
    await makeFolder(options.scratch)
    const found = await options.storage.list(logFolder(options.form))
    const names = found.map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
    await options.storage.remove(
      found.flatMap(({ path, changedMs }, at) =>
        isLeftover(names[at] ?? '', changedMs, { now: new Date() }) ? [path] : [],
      ),
    )
    const newestOf = (pattern: RegExp): number =>
      Math.max(-1, ...names.map((name) => Number(pattern.exec(name)?.[1] ?? -1)))
    const newest = newestOf(CHECKPOINT)
    if (newest >= 0) await log.#readCheckpoint(newest)
    await log.refresh()
    if (newestOf(COMMIT) > log.#version)
      throw log.#conflict(`version ${log.#version + 1} of its log is missing`)
    return log
  }

  get form(): LogForm {
    return this.#options.form
  }
  /** -1 where there is no log yet. */
  get version(): number {
    return this.#version
  }
  get metaData(): LoggedMetaData | undefined {
    return this.#metaData
  }
  get shown(): ShownSnapshot | null {
    return this.#shown
  }
  /** The files of the table by their names below its folder. @throws {ToolkitError} PUBLISH_CONFLICT */
  async files(): Promise<ReadonlyMap<string, LoggedFile>> {
    if (this.#files) return this.#files
    const files = new Map<string, LoggedFile>()
    for await (const action of this.#fileActions()) takeFile(files, action)
    this.#files = files
    return files
  }

  /**
   * Names of the files of this version and of those before it, back to the last one that shows a snapshot up to `oldest`:
   * what the earlier ones had more is what the later ones have removed.
   */
  async namesSince(oldest: number): Promise<ReadonlySet<string>> {
    const names = new Set((await this.files()).keys())
    for (let version = this.#version; version >= 0; version -= 1) {
      const bytes = await this.#options.storage.read(this.#pathOf(`${numbered(version)}.json`))
      if (bytes === null) break
      const actions = this.#actionsOf(bytes)
      if (actions.some((action) => action.kind === 'shown' && action.shown.snapshot <= oldest)) break
      for (const action of actions) if (action.kind === 'remove') names.add(action.name)
    }
    return names
  }

  /** Reads what was written since. @throws {ToolkitError} PUBLISH_CONFLICT */
  async refresh(): Promise<void> {
    for (;;) {
      const bytes = await this.#options.storage.read(this.#pathOf(`${numbered(this.#version + 1)}.json`))
      if (bytes === null) return
      await this.#apply(bytes)
    }
  }

  /**
   * Writes the next version.
   *
   * @returns false when somebody else wrote it first: what they wrote is read then, and the caller checks again
   * @throws {ToolkitError} PUBLISH_CONFLICT, DISK_FULL, WRITE_FAILED and those of the storage
   */
  async append(lines: readonly string[]): Promise<boolean> {
    const bytes = Buffer.from(`${lines.join('\n')}\n`)
    const created = await this.#options.storage.create(
      this.#pathOf(`${numbered(this.#version + 1)}.json`),
      bytes,
    )
    if (created) await this.#apply(bytes)
    else await this.refresh()
    return created
  }

  /** Makes a checkpoint where one is due. A reader or publisher without it only has more to read. */
  async checkpointWhenDue(nowMs: number): Promise<void> {
    if (this.#version - (this.#checkpoint?.version ?? 0) < VERSIONS_PER_CHECKPOINT) return
    const { storage, session, scratch } = this.#options
    const version = this.#version
    const path = join(scratch, `${numbered(version)}.checkpoint.parquet`)
    const receipt = await copyCheckpoint(session, this.#checkpoint?.path, this.#commits, path, nowMs)
    await storage.create(this.#pathOf(`${numbered(version)}.checkpoint.parquet`), receipt.bytes)
    await storage.replace(
      this.#pathOf('_last_checkpoint'),
      `${JSON.stringify({ version, size: receipt.actions })}\n`,
    )
    await this.#startFrom(version, path)
  }

  /** The actions since the checkpoint, and its files before them. */
  async *#fileActions(): AsyncGenerator<Action> {
    if (this.#checkpoint)
      for await (const text of streamFiles(this.#options.session, this.#checkpoint.path))
        yield this.#parse(text)
    for (const commit of this.#commits) yield* this.#actionsOf(await readFile(commit))
  }

  #pathOf(name: string): string {
    return `${logFolder(this.#options.form)}/${name}`
  }

  #conflict(what: string, cause?: unknown): ToolkitError {
    const { root: table } = this.#options.form
    return new ToolkitError(
      'PUBLISH_CONFLICT',
      `Cannot publish "${table}" as a Delta table: ${what}; see docs/published-tables.md`,
      { table, version: this.#version + 1 },
      cause,
    )
  }

  async #startFrom(version: number, path: string): Promise<void> {
    for (const commit of this.#commits.splice(0)) await rm(commit, { force: true })
    if (this.#checkpoint) await rm(this.#checkpoint.path, { force: true })
    this.#checkpoint = { version, path }
    this.#version = version
  }

  async #readCheckpoint(version: number): Promise<void> {
    const { storage, session, scratch, form } = this.#options
    const name = `${numbered(version)}.checkpoint.parquet`
    const bytes = await storage.read(this.#pathOf(name))
    if (bytes === null) throw this.#conflict(`checkpoint "${name}" is missing`)
    const path = join(scratch, name)
    await writeFile(path, bytes, { mode: PRIVATE_FILE })
    await this.#startFrom(version, path)
    for await (const text of streamCheckpoint(session, path)) this.#take(this.#parse(text))
    for await (const text of streamUnknownFiles(session, path, form)) this.#take(this.#parse(text))
    if (!this.#metaData) throw this.#conflict(`checkpoint "${name}" has no schema`)
  }

  #parse(text: string): Action {
    try {
      return parseAction(text, this.#options.form)
    } catch (error) {
      throw this.#conflict(`version ${this.#version + 1} of its log is no JSON`, error)
    }
  }

  #actionsOf(bytes: Buffer): readonly Action[] {
    const strings = bytes.toString('utf8').split('\n')
    return strings.filter((text) => text.trim() !== '').map((text) => this.#parse(text))
  }

  /** Reads the commit of the next version. */
  async #apply(bytes: Buffer): Promise<void> {
    const version = this.#version + 1
    const path = join(this.#options.scratch, `${numbered(version)}.json`)
    const actions = this.#actionsOf(bytes)
    const engine = actions.find((action) => action.kind === 'engine')?.engine ?? 'an unknown program'
    const changes = actions.some(({ kind }) => kind !== 'engine' && kind !== 'other' && kind !== 'shown')
    if (changes && !isOwnEngine(engine))
      throw this.#conflict(
        `version ${version} of its log was written by "${engine}", expected firmlake alone`,
      )
    for (const action of actions) this.#take(action)
    await writeFile(path, bytes, { mode: PRIVATE_FILE })
    this.#commits.push(path)
    this.#version = version
  }

  #take(action: Action): void {
    switch (action.kind) {
      case 'add':
      case 'remove':
        if (this.#files) takeFile(this.#files, action)
        return
      case 'metaData':
        this.#metaData = action.metaData
        return
      case 'shown':
        if (action.shown.snapshot > (this.#shown?.snapshot ?? 0)) this.#shown = action.shown
        return
      case 'protocol':
        if (!isKnownProtocol(action.reader, action.writer))
          throw this.#conflict(`its protocol is ${action.reader}, ${action.writer}, expected 1, 2`)
        return
      case 'strange':
        throw this.#conflict(`its log holds ${action.what} that firmlake does not write`)
    }
  }
}
