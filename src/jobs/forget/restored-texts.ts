/** Records of one partition as they came, whatever version they are. */

import type { CommittedPartition } from '../../core/partition.ts'
import { appendCompany, restoreCompanies, restoreRelations } from '../../restore/restore.ts'
import { ByteWriter } from '../../support/buffers.ts'
import type { ForgetWork } from './forget-work.ts'

export async function* restoredTexts(
  { session, lake, snapshot, known, signal, scratch }: ForgetWork,
  partition: CommittedPartition,
  ids: readonly bigint[],
): AsyncGenerator<string> {
  const { merged: _, ...rest } = snapshot
  const request = {
    ...{ session, lake, ids, known, signal, scratch },
    snapshot: { ...rest, partitions: [partition] },
  }
  if (partition.content === 'relations') {
    for await (const records of restoreRelations(request)) for (const { text } of records) yield text
    return
  }
  const writer = new ByteWriter()
  for await (const companies of restoreCompanies(request))
    for (const company of companies) {
      writer.clear()
      appendCompany(writer, company)
      yield writer.text()
    }
}
