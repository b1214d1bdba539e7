/** The sources that a program can give to a conversion. */

import { resolve } from 'node:path'
import type { Content } from '../contract/objects.ts'
import type { Source } from '../core/source.ts'
import type { Service } from './service/service.ts'

/** Files of this machine, found when the job starts. */
export interface Files {
  readonly kind: 'files'
  /** Files, folders, patterns, `-` for standard input. */
  readonly paths: readonly string[]
}

/** A source of `convert`: a path is that of files, too. */
export type Input = string | Files | Source

/**
 * Files as a source of `convert`: JSON Lines, compressed or not, and the other forms that it takes. In a list of sources a
 * path alone means the same.
 *
 * @param paths files, folders (all files below them), patterns such as `batches/*.br`, `-` for standard input
 * @param folder what paths are relative to. @default the working directory of the process when the job starts
 * @example
 * import { convert, files } from 'firmlake'
 *
 * const { sources } = await convert({ from: files('*.jsonl', 'batches'), lake: './lake' })
 * console.log(sources) // 2
 */
export const files = (paths: string | readonly string[], folder?: string): Files => ({
  kind: 'files',
  paths: [paths].flat().map((path) => (folder === undefined || path === '-' ? path : resolve(folder, path))),
})

/** Filter of a service's batch files; without ids and filters all that it offers. */
export interface BatchFilesChoice {
  /** These alone, by id; not together with a filter. */
  readonly ids?: readonly string[] | undefined
  /** Files of this content only. */
  readonly content?: Content | undefined
  /** Files of these countries only, by code (`SE`). */
  readonly countries?: readonly string[] | undefined
}

/** Batch files of a service. */
export interface BatchFiles extends BatchFilesChoice {
  readonly kind: 'batch-files'
  readonly service: Service
}

/**
 * Batch files of a service, as the source of `pullBatchFiles`.
 *
 * @example
 * import { batchFiles, pullBatchFiles, createService } from 'firmlake'
 *
 * const from = batchFiles(createService({ url: 'https://service.example.com', token: 'token-of-my-service' }), { countries: ['SE'] })
 * const { records } = await pullBatchFiles({ from, lake: './lake' })
 * console.log(records) // 4
 */
export const batchFiles = (service: Service, choice: BatchFilesChoice = {}): BatchFiles => ({
  kind: 'batch-files',
  service,
  ...choice,
})
