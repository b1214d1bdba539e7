/** The frame of each job of the library: its call is checked and read once, and a job that a signal stopped ends with INTERRUPTED. */

import { orInterrupted } from '../core/errors.ts'
import { type OptionTable, type Read, readCall } from './entry.ts'

/**
 * @param call the job's name
 * @param table its options
 * @param work is given the options with their defaults
 * @param noun of the message of a job that a signal stopped. @default the job says it itself
 */
export const job =
  <Options extends object, T extends OptionTable, Done>(
    call: string,
    table: T,
    work: (options: Read<Options, T>) => Promise<Done>,
    noun?: string,
  ): ((options: Options) => Promise<Done>) =>
  async (options) => {
    const read = readCall(call, table, options)
    if (noun === undefined) return work(read)
    const { signal } = options as { readonly signal?: AbortSignal | undefined }
    return orInterrupted(noun, signal, () => work(read))
  }
