/** The example of `postgres`, and the call that everybody begins with, against a real server. */

import { describe, expect, test } from 'vitest'
import { exportedFunctions } from '../../docs/api-text.ts'
import { expectedOf, runExamples } from '../support/run-examples.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usePostgres } from '../support/use-postgres.ts'

describe('postgres(url)', () => {
  const server = usePostgres()

  test('takes what its example and a conversion to everything at once give it', async () => {
    // A database each: the lake of an example is not the lake of the other one.
    const ofOwn = server().url(await server().newDatabase())
    const ofWhole = server().url(await server().newDatabase())
    const own = exportedFunctions().find(({ name }) => name === 'postgres')?.example ?? ''
    const whole = `import { convert, postgres } from 'firmlake'
const url = 'postgres://user@db/whole'
const { delivered } = await convert({ from: ['batches/'], lake: './lake', publish: ['delta'], sinks: [postgres(url)] })
console.log(delivered[0]?.runs.length) // 1`
    const examples = [
      { name: 'postgres', code: own },
      { name: 'whole', code: whole },
    ]
    const ran = await runExamples(await temporaryFolder(), examples, {
      'postgres://user@db/firms': ofOwn,
      'postgres://user@db/whole': ofWhole,
    })
    expect(ran).toEqual(examples.map((one) => ({ name: one.name, printed: [expectedOf(one)] })))
  })
})
