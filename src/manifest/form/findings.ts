/** What `verify` finds. */

/**
 * `counts`: what is counted differs from what the manifest says. `listing`: two places of the manifest say
 * different things.
 */
export type ProblemKind = 'missing' | 'cut' | 'changed' | 'unreadable' | 'counts' | 'listing'

/** One file that is not as it should be; `path` is below the lake's folder, with `/`. */
export interface Problem {
  readonly path: string
  readonly problem: ProblemKind
  readonly detail: string
}

export interface Findings {
  readonly problems: Problem[]
  readonly notes: string[]
}
