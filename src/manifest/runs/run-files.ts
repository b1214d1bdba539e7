/** Small files that a run writes once and resumes from after a crash: sealed, so that a changed byte is found. */

import { ToolkitError, writeError } from '../../core/errors.ts'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'

/** A job of a run; several of one run keep their files apart. */
export interface JobOfRun {
  readonly lake: string
  readonly run: string
  /** The job's place among those of the run. @default 0 */
  readonly job?: number | undefined
  /** Folder of this machine for what one attempt works with. @default the run's own folder */
  readonly scratch?: string | undefined
}

/** A name in a run's folder that each job has for itself: `windows.json`, of the second job `windows-1.json`. */
export const nameOfJob = (name: string, { job = 0 }: Pick<JobOfRun, 'job'>): string =>
  job === 0 ? name : name.replace(/(\.\w+)?$/, (ending) => `-${job}${ending}`)

export interface RunFile {
  /** Name in the run's folder, of its first job. */
  readonly name: string
  /** In words, for messages: `windows`. */
  readonly what: string
}

const pathOf = (job: JobOfRun, name: string): string => `${runPath(job.run)}/${nameOfJob(name, job)}`

/** A file of a job as a new run is begun with: its name in the run's folder, and its text. */
export const runFileText = (
  job: Pick<JobOfRun, 'job'>,
  { name }: RunFile,
  value: object,
): readonly [name: string, text: string] => [nameOfJob(name, job), textOf(value)]

const textOf = (value: object): string => `${seal(JSON.stringify(value, null, 2))}\n`

/** @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
export const createRunFile = async (job: JobOfRun, { name }: RunFile, value: object): Promise<void> => {
  const { lake, run } = job
  const path = pathOf(job, name)
  try {
    await storageOf(lake).create(path, textOf(value))
  } catch (error) {
    throw writeError(`Cannot write "${name}" of run "${run}"`, error)
  }
}

/**
 * The value that an earlier attempt of the run wrote; `undefined` where it wrote none.
 *
 * @throws {ToolkitError} RUN_NOT_RESUMABLE
 */
export const readRunFile = async <T>(
  job: JobOfRun,
  { name, what }: RunFile,
  isValue: (value: unknown) => value is T,
): Promise<T | undefined> => {
  const { lake, run } = job
  const bytes = await storageOf(lake).read(pathOf(job, name))
  if (bytes === null) return undefined
  const read = unseal(bytes)
  if (read.kind !== 'damaged' && isValue(read.value)) return read.value
  throw new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot read the ${what} of run "${run}": "${nameOfJob(name, job)}" is damaged`,
    { run },
  )
}
