import { testGaps, UNPLANNED } from './gap-cases.ts'

testGaps([
  { content: 'companies', cursorCap: 77, planned: 77, closeGap: true },
  { content: 'relations', cursorCap: 77, planned: UNPLANNED, closeGap: true },
  { content: 'relations', cursorCap: 77, planned: UNPLANNED, closeGap: false },
])
