/** Runs before each file of the project `unit`. */

import { afterAll, afterEach, expect } from 'vitest'
import { forbidOutside } from './no-outside.ts'

const { tried, lift } = forbidOutside()
afterEach(() => expect(tried()).toEqual([]))
afterAll(lift)
