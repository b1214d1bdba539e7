/** Commits a staged run to PostgreSQL: arguments are the URL, the staging folder, the run and its files as JSON. */

import { postgres } from '../../src/sink/postgres/postgres.ts'

const [url = '', staging = '', run = '', files = '[]'] = process.argv.slice(2)
const sink = await postgres(url, { staging }).open(run)
await sink.commit(JSON.parse(files))
