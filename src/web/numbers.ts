/** Figures as texts. */

/** Whole where it is large, with up to four digits behind the point where it is small. */
export const shownNumber = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 4 : 0 })

const SCALES = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
] as const

/** What a series of figures is shown in, so that its labels are short. */
export const scaleFor = (values: readonly number[]): readonly [factor: number, word: string] => {
  const most = Math.max(0, ...values.map(Math.abs))
  return SCALES.find(([factor]) => most >= 10 * factor) ?? [1, '']
}

/** `25`, `25 to 50` percent, or that nothing is stated. */
export const shownStake = (least: number, greatest: number, isStated: boolean): string => {
  if (!isStated) return 'not stated'
  const percent = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 })
  return least === greatest ? `${percent(least)} %` : `${percent(least)} to ${percent(greatest)} %`
}
