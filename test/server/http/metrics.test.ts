import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { newMetrics } from '../../../src/server/http/metrics.ts'

test('metrics have numbers of the process and of the server, each once', async () => {
  newMetrics(() => 1)
  const text = await newMetrics(() => 7).text()
  expect(text).toContain('firmlake_snapshot 7\n')
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds', 'firmlake_snapshot'])
    expect([name, text.split(`# TYPE ${name} `).length - 1]).toEqual([name, 1])
})

test('metrics let go of a server that has ended', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const servers = Array.from({ length: 3 }, () => {
    const server = { snapshot: 1 }
    newMetrics(() => server.snapshot)
    return new WeakRef(server)
  })
  await setImmediate()
  collect()
  await setImmediate()
  collect()
  expect(servers.filter((one) => one.deref() !== undefined)).toHaveLength(0)
})
