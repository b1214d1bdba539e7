import { test } from 'vitest'
import { Workbench } from './loaded-lake.ts'
const c = (s: string) => ({ content: 'companies' as const, lines: [s] })
const r = (s: string) => ({ content: 'relations' as const, lines: [s] })
const B = '"BasicDetails":{"InternalId":1}'
const cases: [string, ReturnType<typeof c> | ReturnType<typeof r>][] = [
  ['1e400 unknown nested', c(`{${B},"X":[1e400]}`)],
  ['slash unknown rel', r(`{"InternalId":1,"/x":{"y":5},"/":6,"":6}`)],
  ['slash unknown comp', c(`{${B},"/x":{"y":5},"/":6,"":6}`)],
  ['nulls in entity', r(`{"InternalId":1,"Parents":[{"InternalId":2,"History":null,"Ownerships":null,"Name":null,"Citizenships":null,"Addresses":null,"BirthDate":null,"KeyPersonRoles":null,"IsProtected":null,"UpdatedAt":null}]}`)],
  ['addr text', r(`{"InternalId":1,"Parents":[{"InternalId":2,"Addresses":["foo"]}]}`)],
  ['year 0000', c(`{"BasicDetails":{"InternalId":1},"MetaData":{"GeneratedAt":"0000-05-05T00:00:00","RelationsUpdatedAt":"0010-05-05T00:00:00","LastReportQuarter":"2300-05-05T00:00:00"}}`)],
  ['nul country', c(`{"BasicDetails":{"InternalId":1,"CountryCode":"a\\u0000b"},"MetaData":{"CurrentCurrencyCode":"\\u0000"},"Financials":{"A":{"B":{"2020":1}}}}`)],
  ['nul item', c(`{"BasicDetails":{"InternalId":1},"MetaData":{"FinancialFigureScale":"Thousands"},"Financials":{"\\u0000A":{"B\\u0000":{"2020":1}},"BalanceSheet":{"TotalAssets":{"2020":3}}}}`)],
  ['many items', c(`{"BasicDetails":{"InternalId":1},"MetaData":{"FinancialFigureScale":"Thousands"},"Financials":{"BalanceSheet":{"TotalAssets":{"2020":3}},"A":{${Array.from({length:10001},(_,i)=>`"i${i}":{"2020":1}`).join(',')}}}}`)],
  ['many cats', c(`{"BasicDetails":{"InternalId":1},"MetaData":{"FinancialFigureScale":"Thousands"},"Financials":{"BalanceSheet":{"TotalAssets":{"2020":3}},${Array.from({length:10001},(_,i)=>`"i${i}":{"A":{"2020":1}}`).join(',')}}}`)],
  ['quoted', c(`{"BasicDetails":{"InternalId":"12","LegalForm":"1E1"},"Score":"1.5","EnhancedDetails":{"Employees":{"2020":"7"}},"Financials":{"A":{"B":{"2020":"1.5"}}}}`)],
  ['dup in unknown', c(`{${B},"X":[{"a":1,"\\u0061":2}]}`)],
  ['long line', c(`{"BasicDetails":{"InternalId":1,"CompanyName":"${'x'.repeat(1024*1024*3)}"}}`)],
  ['long line exact', c(`{"BasicDetails":{"InternalId":1,"CompanyName":"${'x'.repeat(1024*1024*2-54)}"}}`)],
  ['deep', r(`{"InternalId":1,"Parents":[${'{"InternalId":2,"Name":"a","History":['.repeat(120)}${']}'.repeat(120)}]}`)],
  ['deep unknown', r(`{"InternalId":1,"X":${'['.repeat(255)}${']'.repeat(255)}}`)],
  ['deep unknown obj', r(`{"InternalId":1,"X":${'{"a":'.repeat(254)}[1]${'}'.repeat(254)}}`)],
]
test('x', async () => {
  const bench = await Workbench.open()
  for (const [name, batch] of cases) {
    const t = performance.now()
    try {
      const l = await bench.load(batch)
      const t2 = performance.now()
      const b = await l.givenBack()
      console.log(name, '|', b.map(x=>x.slice(0,400)).join('\n'), '|', l.rejected.map(x=>x.code+x.reason), (await l.quarantine()).map(q=>[q.code,q.reason]), Math.round(t2-t), Math.round(performance.now()-t2))
      if (name.startsWith('many')) console.log(await l.rows('financials', "category, line_item, value")
        .then(x=>x.filter(y=>y.value!==1)))
      if (name.startsWith('deep')) console.log(b[0]?.length)
    } catch (e) { console.log(name, '| FAILED', String(e).slice(0,400)) }
  }
  await bench.close()
})
