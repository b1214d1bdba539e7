/**
 * Links the project's Node as `node_modules/.bin/node`. npm 11 does so itself; npm 10, which comes with an older Node, links no
 * command of an optional package. Run by npm after it installed a checkout, with whatever Node the machine has.
 */

import { existsSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const path = (name) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url))
const found = `node-${process.platform}-${process.arch}/bin/node`

if (existsSync(path(found)) && existsSync(path('.bin')) && !existsSync(path('.bin/node')))
  symlinkSync(`../${found}`, path('.bin/node'))
