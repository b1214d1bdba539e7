/** The one style sheet of the report, and what a page with it may load: nothing. */

import { createHash } from 'node:crypto'
import { INKS } from './colours.ts'

const variables = (which: 0 | 1): string =>
  Object.entries(INKS)
    .map(([name, both]) => `--${name}:${both[which]}`)
    .join(';')

/** Charts are drawn in the light inks; here they follow the page. */
const chartInks = (['ink', 'soft', 'line'] as const)
  .flatMap((name) =>
    ['fill', 'stroke'].map((what) => `svg [${what}="${INKS[name][0]}"]{${what}:var(--${name})}`),
  )
  .join('')

const BASE = `*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1200px;margin:0 auto;padding:0 16px}
footer{margin-top:32px}dt::first-letter{text-transform:uppercase}
@media (min-width:700px){nav{position:sticky;top:0}}
h1{font-size:1.6rem;margin:16px 0 0}h2{font-size:1.4rem;margin:32px 0 8px;border-bottom:2px solid var(--line)}h3{font-size:1.1rem;margin:24px 0 4px}
p{margin:4px 0 8px}.soft,figcaption,caption{color:var(--soft)}
nav{background:var(--paper);border-bottom:1px solid var(--line);z-index:1}
nav ul{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;max-width:1200px;margin:0 auto;padding:8px 16px}
a{color:var(--link)}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px}
main>section{scroll-margin-top:4rem}
.wide{overflow-x:auto;max-width:100%}
svg{display:block;width:100%;min-width:760px;max-width:1000px;height:auto}
svg text{font:12px sans-serif;unicode-bidi:isolate}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;min-width:50%}
caption{text-align:left;padding:4px 0}
th,td{border:1px solid var(--line);padding:3px 8px;text-align:left;vertical-align:top;overflow-wrap:normal}td.l{overflow-wrap:anywhere;min-width:16rem;max-width:36rem}
thead th{background:var(--panel)}td.n{text-align:right;white-space:nowrap}
details{margin:8px 0}summary{cursor:pointer;color:var(--link)}
pre{background:var(--panel);border:1px solid var(--line);padding:8px;white-space:pre-wrap;overflow-wrap:anywhere;-webkit-user-select:all;user-select:all;margin:4px 0}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:12px;margin:12px 0}
dl div{border:1px solid var(--line);background:var(--panel);padding:8px 12px}dt{color:var(--soft);font-size:.875rem}.whole,.good,.fair,.bad{white-space:nowrap}dd{margin:0;font-size:1.2rem;font-weight:600}
dd small{display:block;font-size:.8125rem;font-weight:400}
.good{color:var(--good)}.fair{color:var(--fair)}.bad{color:var(--bad)}.good,.fair,.bad{font-weight:600}
bdi{white-space:pre-wrap}`

/** A page that is called by its name stands alone; without a name all stand below each other, as on paper. */
const SCREEN = `@media screen{main:has(>section:target)>section:not(:target){display:none}}`
const DARK = `@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;${variables(1)}}}`
const PRINT = `@page{size:A4;margin:14mm}
@media print{nav{display:none}body{font-size:10pt}main>section+section{break-before:page}h2,h3{break-after:avoid}
.wide{overflow:visible}svg{min-width:0;max-width:100%;break-inside:avoid}table{font-size:7.5pt;width:100%}th,td{padding:1px 3px}td.n{white-space:normal}th,td,td.l{overflow-wrap:anywhere;min-width:0}tr{break-inside:avoid}
details::details-content{content-visibility:visible;block-size:auto}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}`

/** The style sheet, as it stands between its tags. */
export const STYLE = `:root{${variables(0)}}\n${BASE}\n${chartInks}\n${SCREEN}\n${DARK}\n${PRINT}\n`

const hash = createHash('sha256').update(STYLE).digest('base64')

/** No request, no script, no style but ours; the picture is the empty one that keeps a browser from asking for an icon. */
export const POLICY = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`
