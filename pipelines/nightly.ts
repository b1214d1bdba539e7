/**
 * What has changed at the service since the last time, into the lake and its targets: `node pipelines/nightly.ts`, for cron or a
 * Kubernetes CronJob. Settings come from the environment (docs/nightly.md), one JSON summary goes to standard output. An
 * interrupted night is resumed when this is started again.
 */

import { nightly, runProgram, withTelemetry } from '../src/index.ts'

await withTelemetry(process.env, () => runProgram((program) => nightly({ ...program, env: process.env })))
