import { testGaps, UNPLANNED } from './gap-cases.ts'

testGaps([
  { content: 'companies', cursorCap: 25, planned: UNPLANNED, closeGap: true },
  { content: 'companies', cursorCap: 77, planned: UNPLANNED, closeGap: false },
  { content: 'relations', cursorCap: 25, planned: 50, closeGap: true },
])
