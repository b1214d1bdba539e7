/** The optional parts: whether their packages are installed, and in versions that package.json takes. */

import {
  installedVersion,
  installLine,
  OPTIONAL_PART_NAMES,
  OPTIONAL_PARTS,
  type OptionalPartName,
  type Resolve,
} from '../../core/optional-parts.ts'
import { isInRange } from '../../support/own-package.ts'
import type { MachineFinding } from './finding.ts'

interface FoundPackage {
  readonly name: string
  readonly range: string
  readonly version: string | undefined
}

const wrongText = ({ name, range, version }: FoundPackage): string => `${name} ${version}, expected ${range}`

const checkPart = (
  part: OptionalPartName,
  isNeeded: boolean,
  resolve: Resolve | undefined,
): MachineFinding => {
  const { title, purpose, packages } = OPTIONAL_PARTS[part]
  const found = packages.map(
    ({ name, range }): FoundPackage => ({ name, range, version: installedVersion(name, resolve) }),
  )
  const mend = { state: isNeeded ? 'missing' : 'absent', mend: installLine(part) } as const
  const missing = found.filter(({ version }) => version === undefined)
  if (missing.length === found.length)
    return { about: part, says: `${title} is not installed: ${purpose}`, ...mend }
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    return { about: part, says: `${title} is installed without ${names}: ${purpose}`, ...mend }
  }
  const wrong = found.filter(({ version = '', range }) => !isInRange(version, range))
  if (wrong.length > 0)
    return { about: part, says: `${title} is installed as ${wrong.map(wrongText).join('; ')}`, ...mend }
  const versions = [...new Set(found.map(({ version }) => version))]
  return { about: part, state: 'well', says: `${title} ${versions.join(', ')}: ${purpose}` }
}

/** @param needed parts that the configuration needs */
export const checkParts = (
  needed: ReadonlySet<OptionalPartName>,
  resolve?: Resolve,
): readonly MachineFinding[] => OPTIONAL_PART_NAMES.map((part) => checkPart(part, needed.has(part), resolve))
