/** Elements from texts that nobody has checked: what is text stays text. */

import type { Html } from '../report/html.ts'

type Child = Node | string | number | null | undefined
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

const SVG = 'http://www.w3.org/2000/svg'

const fill = <E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E => {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value))
  for (const child of children)
    if (child !== null && child !== undefined) element.append(child instanceof Node ? child : String(child))
  return element
}

export const h = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] => fill(document.createElement(name), attributes, children)

export const svg = (name: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement =>
  fill(document.createElementNS(SVG, name) as SVGElement, attributes, children)

/** A text of the data, apart from its surroundings in its direction. @param longest characters; what is longer is cut */
export const untrusted = (value: unknown, longest = 4000): HTMLElement => {
  const text = value === null || value === undefined || value === '' ? '–' : String(value).toWellFormed()
  return h('bdi', {}, text.length > longest ? `${text.slice(0, longest)}…` : text)
}

/** HTML that the report's code has made and escaped. */
export const fromHtml = ({ text }: Html): DocumentFragment => {
  const parsed = new DOMParser().parseFromString(text, 'text/html')
  const fragment = document.createDocumentFragment()
  fragment.append(...parsed.body.childNodes)
  return fragment
}

/** A part that may be wider than the screen, and is scrolled by keyboard too. */
export const wide = (label: string, ...children: readonly Child[]): HTMLElement =>
  h('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': label }, ...children)
