/** Rules on the data that people write: a folder of statements, each with its name. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readReason, ToolkitError } from '../core/errors.ts'
import { readUserText } from '../core/user-text.ts'

/** @param folder of `.sql` files @returns their statements by name @throws {ToolkitError} USAGE, TEXT_NOT_UTF8 */
export const readRules = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const rules: Record<string, string> = {}
  try {
    for (const name of (await readdir(folder)).filter((one) => one.endsWith('.sql')).sort()) {
      const text = await readUserText(join(folder, name))
      rules[name.slice(0, -'.sql'.length)] = text.trim().replace(/;$/, '')
    }
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    throw new ToolkitError('USAGE', `Cannot read the rules in "${folder}": ${readReason(error)}`)
  }
  return rules
}
