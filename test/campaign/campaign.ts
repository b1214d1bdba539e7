/** What every campaign is: many seeded cases against a promise. Its short form is a test, its whole one a command. */

import { seededRandom } from '../manifest/damage.ts'

export interface CampaignOptions {
  /** Every choice of a campaign follows from it: the same seed gives the same cases. */
  readonly seed: number
  /** How many cases; a campaign says what one is. */
  readonly cases: number
  /** Only cases whose names begin so, of a campaign that names its cases. @default all */
  readonly only?: string | undefined
  readonly random: () => number
  /** Told of progress, a line each. */
  readonly log: (line: string) => void
}

export interface CampaignResult {
  readonly cases: number
  /** Each broken promise with what is needed to see it again; empty when all held. */
  readonly wrong: readonly string[]
  /** What was counted or measured on the way. */
  readonly figures: Readonly<Record<string, number | string>>
}

export interface Campaign {
  /** What must hold. */
  readonly about: string
  /** Cases of the whole form. */
  readonly wholeCases: number
  readonly run: (options: CampaignOptions) => Promise<CampaignResult>
}

export const runCampaign = (
  campaign: Campaign,
  {
    seed,
    cases,
    only,
    log,
  }: Pick<CampaignOptions, 'seed' | 'cases' | 'only'> & { readonly log?: (line: string) => void },
): Promise<CampaignResult> =>
  campaign.run({ seed, cases, only, random: seededRandom(seed), log: log ?? (() => undefined) })
