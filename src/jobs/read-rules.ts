/** Rules of one's own for `check`. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolkitError } from '../core/errors.ts'

/** @param folder of `.sql` files @returns their statements by name @throws {ToolkitError} USAGE */
export const readRules = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const rules: Record<string, string> = {}
  try {
    for (const name of (await readdir(folder)).filter((one) => one.endsWith('.sql')).sort()) {
      const text = await readFile(join(folder, name), 'utf8')
      rules[name.slice(0, -'.sql'.length)] = text.trim().replace(/;$/, '')
    }
  } catch (error) {
    throw new ToolkitError(
      'USAGE',
      `Cannot read the rules in "${folder}": ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return rules
}
