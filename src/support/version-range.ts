/** Versions against the ranges of a package.json: `^1.2.3`, `>=1.2`, `<2`, or several of these, all of which must hold. */

type Version = readonly [major: number, minor: number, patch: number]

/** A release before its final one counts as none: it may lack what the range was named for. */
const versionOf = (text: string): Version | undefined => {
  const [whole, major, minor = 0, patch = 0] = /^(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(text) ?? []
  return whole === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

const compare = (one: Version, other: Version): number =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2]

/** The first version that `^` leaves out: the leftmost part that is not 0 stays as it is. */
const nextAfter = ([major, minor, patch]: Version): Version => {
  if (major > 0) return [major + 1, 0, 0]
  return minor > 0 ? [0, minor + 1, 0] : [0, 0, patch + 1]
}

const holds = (version: Version, part: string): boolean => {
  const [, sign = '', text = ''] = /^(\^|>=|<)(.+)$/.exec(part) ?? []
  const named = versionOf(text)
  if (named === undefined)
    throw new RangeError(`Cannot read the range "${part}": expected ^, >= or < and a version`)
  if (sign === '<') return compare(version, named) < 0
  return compare(version, named) >= 0 && (sign === '>=' || compare(version, nextAfter(named)) < 0)
}

/** @throws {RangeError} for a range of another form */
export const isInRange = (version: string, range: string): boolean => {
  const found = versionOf(version)
  return found !== undefined && range.split(' ').every((part) => holds(found, part))
}
