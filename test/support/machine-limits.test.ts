import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readMachineLimits } from '../../src/support/machine-limits.ts'
import { temporaryFolder } from './temporary-folder.ts'

const MIB = 1024 ** 2
const MACHINE = { memoryBytes: 16_000 * MIB, cpus: 8 }
const NO_LIMIT = '9223372036854771712'

/** A line of mountinfo: which part of the hierarchy stands where. */
const mounted = (top: string, at: string, type: string, options = 'rw'): string =>
  `31 23 0:28 ${top} ${at} rw,nosuid shared:4 - ${type} ${type} ${options}`

/** The limits of a process whose system has these files. */
const limitsOf = async (
  groups: readonly string[],
  mounts: readonly string[],
  files: Readonly<Record<string, string | number>>,
) => {
  const root = await temporaryFolder()
  const all = {
    'proc/self/cgroup': groups.join('\n'),
    'proc/self/mountinfo': mounts.join('\n'),
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), `${text}\n`)
  }
  const { memoryBytes, cpus } = readMachineLimits(root, MACHINE)
  return [memoryBytes / MIB, cpus]
}

const V2 = [mounted('/', '/sys/fs/cgroup', 'cgroup2')]
const V1 = [
  mounted('/', '/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
  mounted('/', '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
]

test('a system without control groups sets no limit', async () => {
  expect(await limitsOf([], [], {})).toEqual([16_000, 8])
  expect(readMachineLimits('/proc/none', MACHINE)).toEqual(MACHINE)
})

test('of version 2 the smallest limit of the group and those above it counts, and max is none', async () => {
  const at = 'sys/fs/cgroup'
  const own = { [`${at}/pods/one/memory.max`]: 'max', [`${at}/pods/one/cpu.max`]: 'max 100000' }
  expect(await limitsOf(['0::/pods/one'], V2, own)).toEqual([16_000, 8])
  const above = { [`${at}/pods/memory.max`]: 700 * MIB, [`${at}/pods/cpu.max`]: '150000 100000' }
  expect(await limitsOf(['0::/pods/one'], V2, { ...own, ...above })).toEqual([700, 2])
  const others = { [`${at}/pods/two/memory.max`]: MIB, [`${at}/pods/one/memory.high`]: 600 * MIB }
  expect(await limitsOf(['0::/pods/one'], V2, { ...own, ...above, ...others })).toEqual([600, 2])
})

test('of version 1 each controller has its own hierarchy', async () => {
  const groups = ['9:name=systemd:/other', '4:memory:/docker/a', '2:cpu,cpuacct:/docker/b']
  const [memory, cpu] = ['sys/fs/cgroup/memory', 'sys/fs/cgroup/cpu,cpuacct']
  const none = {
    [`${memory}/docker/a/memory.limit_in_bytes`]: NO_LIMIT,
    [`${cpu}/docker/b/cpu.cfs_quota_us`]: -1,
    [`${cpu}/docker/b/cpu.cfs_period_us`]: 100_000,
  }
  expect(await limitsOf(groups, V1, none)).toEqual([16_000, 8])
  const some = {
    [`${memory}/docker/memory.limit_in_bytes`]: 512 * MIB,
    [`${cpu}/docker/b/cpu.cfs_quota_us`]: 25_000,
  }
  expect(await limitsOf(groups, V1, { ...none, ...some })).toEqual([512, 1])
})

test.each([
  ['its own group is the root that it sees', '/', '0::/'],
  ['the path is that of the host', '/docker/a', '0::/docker/a'],
  ['the path leads outside', '/', '0::/../../b'],
  ['the path is not below what is mounted', '/docker/a', '0::/'],
])('a container is limited by the group that it sees, where %s', async (_, top, group) => {
  const mounts = [mounted(top, '/sys/fs/cgroup', 'cgroup2')]
  const files = { 'sys/fs/cgroup/memory.max': 300 * MIB, 'sys/fs/cgroup/cpu.max': '300000 100000' }
  expect(await limitsOf([group], mounts, files)).toEqual([300, 3])
})

test('files of version 2 beside version 1 set no limit where they have none', async () => {
  const mounts = [...V1, mounted('/', '/sys/fs/cgroup/unified', 'cgroup2')]
  const files = { 'sys/fs/cgroup/memory/a/memory.limit_in_bytes': 400 * MIB }
  expect(await limitsOf(['4:memory:/a', '0::/'], mounts, files)).toEqual([400, 8])
})
