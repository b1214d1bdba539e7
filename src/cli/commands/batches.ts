/** `batches` and its sub-commands: files of a whole lake. */

import type { Command } from 'commander'
import { addBatchesList } from './batches-list.ts'
import { addBatchesMake } from './batches-make.ts'
import { addBatchesPull } from './batches-pull.ts'

export const addBatches = (program: Command): void => {
  const group = program
    .command('batches')
    .summary('make, list and pull batch files')
    .description('Batch files hold all records of a country: JSON Lines in Brotli.')
  addBatchesMake(group)
  addBatchesList(group)
  addBatchesPull(group)
}
