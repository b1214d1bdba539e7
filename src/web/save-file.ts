/** Saves a file that the server makes: a table as CSV, a company as a workbook. */

import { asked, reasonOf } from './session.ts'

/** Says beside the button that the file is on its way, that it was cut, or why there is none. */
export const saveFile = async (button: HTMLElement, signal: AbortSignal): Promise<void> => {
  const { file = '', ask = '', name = '', said = '' } = button.dataset
  const status = button.nextElementSibling
  const say = (text: string): void => {
    if (status !== null && !signal.aborted) status.textContent = text
  }
  say('Loading …')
  try {
    const response = await asked(`explorer/file/${file}`, ask, signal)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await response.blob())
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
    say(said)
  } catch (error) {
    say(`✖ ${reasonOf(error)}`)
  }
}
