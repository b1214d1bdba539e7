/** Commits a staged run to PostgreSQL: arguments are the URL, the staging folder, the run and its files as JSON. */

import { postgresSink } from '../../src/sink/postgres/postgres.ts'

const [url = '', staging = '', run = '', files = '[]'] = process.argv.slice(2)
const sink = await postgresSink({ url, staging }).open(run)
await sink.commit(JSON.parse(files))
