import { test } from 'vitest'
import { Workbench } from './loaded-lake.ts'
const c = (s: string) => ({ content: 'companies' as const, lines: [s] })
const r = (s: string) => ({ content: 'relations' as const, lines: [s] })
const B = '"BasicDetails":{"InternalId":1}'
const cases: [string, ReturnType<typeof c> | ReturnType<typeof r>][] = [
  ['id "12"', c(`{"BasicDetails":{"InternalId":"12"}}`)],
  ['id "1.0"', c(`{"BasicDetails":{"InternalId":"1.0"}}`)],
  ['id "1E1"', c(`{"BasicDetails":{"InternalId":"1E1"}}`)],
  ['id 1E1', c(`{"BasicDetails":{"InternalId":1E1},"X":1}`)],
  ['id -0', c(`{"BasicDetails":{"InternalId":-0},"X":1}`)],
  ['id "-0"', c(`{"BasicDetails":{"InternalId":"-0"},"X":1}`)],
  ['id "12" X', c(`{"BasicDetails":{"InternalId":"12"},"X":1}`)],
  ['id max', c(`{"BasicDetails":{"InternalId":9223372036854775807},"X":1}`)],
  ['id 1.00000000000000000001', c(`{"BasicDetails":{"InternalId":1.00000000000000000001},"X":1}`)],
  ['id 1000000000000000000000e-21', c(`{"BasicDetails":{"InternalId":1000000000000000000000e-21},"X":1}`)],
  ['score', c(`{${B},"Score":"1.5"}`)],
  ['scoree', c(`{${B},"Score":"-15E-1"}`)],
  ['emp', c(`{${B},"EnhancedDetails":{"Employees":{"2020":"7","2021":"1e1"}}}`)],
  ['fin', c(`{${B},"Financials":{"A":{"B":{"2020":"1.5","2021":"1e1"}}}}`)],
  ['followers', c(`{${B},"LinkedIn":{"Followers":"5","NumberOfEmployees":1.0}}`)],
  ['rel id "1E1"', r(`{"InternalId":1,"LegalForm":"1E1","Parents":[{"InternalId":"1E1","KeyPersonRoles":[{"Id":"1E1"}]}]}`)],
  ['rel nums', r(`{"InternalId":1,"Parents":[{"InternalId":1E1,"KeyPersonRoles":[{"Id":1.0}],"Ownerships":[{"OwnershipStake":"1E1","MinVotes":123456789012345678901234567890}]}]}`)],
]
test('x', async () => {
  const bench = await Workbench.open()
  for (const [name, batch] of cases) {
    const t = performance.now()
    try {
      const l = await bench.load(batch)
      const t2 = performance.now()
      const b = await l.givenBack()
      console.log(name, '|', b.map(x=>x.slice(0,600)).join('\n'), '|', l.rejected.map(x=>x.code+x.reason), (await l.quarantine()).map(q=>[q.code,q.reason]), Math.round(t2-t), Math.round(performance.now()-t2))
    } catch (e) { console.log(name, '| FAILED', String(e).slice(0,400)) }
  }
  await bench.close()
})
