/** Shares as people write them: `5%`. */

/** From 0 to 1; `undefined` for what is no share. */
export const parseShare = (text: string): number | undefined => {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1]
  return percent !== undefined && Number(percent) <= 100 ? Number(percent) / 100 : undefined
}
