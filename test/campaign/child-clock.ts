/** Preloaded by a command that plays a night: its clock is that of the night. */

import { ShiftedClock } from './shifted-clock.ts'

new ShiftedClock().moveTo(Number(process.env.FIRMLAKE_YEAR_NOW_MS))
