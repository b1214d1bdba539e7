/** Workbooks of Excel: for people, and so only of an export, not as a target that runs are delivered to. */

import type { FileFormat } from '../file-format.ts'

/** One sheet with titles; numbers and times as such where a spreadsheet can hold them, else as texts. */
export const xlsxFormat = {
  write: async (path, rows, { name }) => {
    const { writeXlsx } = await import('./write-xlsx.ts')
    return writeXlsx(path, rows, { name })
  },
} as const satisfies FileFormat
