/** The mark of firmlake: bars above the water, and what the water shows of them. */

import { html } from './html.ts'

export const brandMark = html`<svg viewBox="0 0 24 24" aria-hidden="true"><rect class="f1" x="3" y="7" width="4" height="7" rx="1"/><rect class="f1" x="10" y="2" width="4" height="12" rx="1"/><rect class="f1" x="17" y="5" width="4" height="9" rx="1"/><rect class="f1l" x="3" y="16" width="4" height="3" rx="1"/><rect class="f1l" x="10" y="16" width="4" height="6" rx="1"/><rect class="f1l" x="17" y="16" width="4" height="4" rx="1"/></svg>`
