/** The name that somebody may have meant. */

/** The name that takes the fewest edits, where those are few for its length. */
export const nearestName = (given: string, names: readonly string[]): string | undefined => {
  const most = Math.max(2, Math.floor(given.length / 3))
  let best: { name: string; edits: number } | undefined
  for (const name of names) {
    const edits = editDistance(given.toLowerCase(), name.toLowerCase())
    if (edits <= most && (best === undefined || edits < best.edits)) best = { name, edits }
  }
  return best?.name
}

/** Characters to insert, leave out or replace to make one text of the other (Levenshtein). */
const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
