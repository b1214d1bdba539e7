import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findConfig } from '../../src/config/find-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A folder with a file, and a folder below it to work in. */
const project = async (text = 'lake = "lake"') => {
  const folder = await temporaryFolder()
  const cwd = join(folder, 'a', 'b')
  await mkdir(cwd, { recursive: true, mode: 0o755 })
  const path = join(folder, 'firmlake.toml')
  await writeFile(path, text, { mode: 0o644 })
  return { folder, cwd, path }
}

test('findConfig finds the nearest file upwards, and .env beside it without what the environment has', async () => {
  const { folder, cwd, path } = await project()
  await writeFile(join(folder, '.env'), 'FIRMLAKE_ONE=1\nPGTWO="2 # two"\n# no\n', { mode: 0o600 })
  await writeFile(join(cwd, '.env'), 'FIRMLAKE_THREE=3\n', { mode: 0o600 })
  const found = await findConfig({ cwd, env: { FIRMLAKE_ONE: 'mine' } })
  expect(found.file?.path).toBe(path)
  expect(found.file?.settings.lake).toBe(join(folder, 'lake'))
  expect(found.env).toEqual({ PGTWO: '2 # two' })
  expect(found.notices).toEqual([])
})

test('findConfig takes no file that somebody else could have written, says why, and looks further up', async () => {
  const { folder, cwd, path } = await project()
  const near = join(cwd, 'firmlake.toml')
  await writeFile(near, 'lake = "theirs"', { mode: 0o644 })
  const search = () => findConfig({ cwd, env: {} })
  expect((await search()).file?.path).toBe(near)
  await chmod(near, 0o666)
  expect(await search()).toMatchObject({
    file: { path },
    notices: [expect.stringContaining(`others can write to "${near}"`)],
  })
  await chmod(near, 0o644)
  await chmod(cwd, 0o777)
  expect(await search()).toMatchObject({
    file: { path },
    notices: [expect.stringContaining(`its folder "${cwd}"`)],
  })
  await chmod(cwd, 0o755)
  // Whoever is not root cannot give a file away, but can ask as somebody else.
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(near, 54_321, 54_321)
  const asked = await findConfig({ cwd, env: {}, ...(!isRoot && { uid: 54_321 }) })
  expect(asked.notices[0]).toContain(`"${near}" belongs to another user`)
  expect(asked.file?.path).toBe(isRoot ? path : undefined)
  expect((await findConfig({ cwd, env: {}, named: 'firmlake.toml', uid: 54_321 })).file?.path).toBe(near)
  await chmod(folder, 0o777)
  expect((await findConfig({ cwd: folder, env: {} })).file).toBeUndefined()
})

test('findConfig follows a link only to a place where nobody else can write', async () => {
  const { cwd, path } = await project()
  const open = await temporaryFolder()
  await writeFile(join(open, 'x.toml'), 'lake = "theirs"', { mode: 0o644 })
  await symlink(join(open, 'x.toml'), join(cwd, 'firmlake.toml'))
  await chmod(open, 0o777)
  const { file, notices } = await findConfig({ cwd, env: {} })
  expect(file?.path).toBe(path)
  expect(notices).toEqual([expect.stringContaining(`its folder "${open}"`)])
})

test('findConfig takes no .env that others can write to', async () => {
  const { folder, cwd } = await project()
  await writeFile(join(folder, '.env'), 'FIRMLAKE_ONE=1\n')
  await chmod(join(folder, '.env'), 0o666)
  const { env, notices } = await findConfig({ cwd, env: {} })
  expect(env).toEqual({})
  expect(notices).toEqual([expect.stringContaining('.env" is not used')])
})

test('findConfig refuses a named file that is not there or no file', async () => {
  const cwd = await temporaryFolder()
  await expect(findConfig({ cwd, env: {}, named: 'x.toml' })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('"x.toml" does not exist'),
  })
  await expect(findConfig({ cwd, env: {}, named: '.' })).rejects.toThrow('is no file')
})

test('findConfig judges .env beside a file that is named as beside one that is found', async () => {
  const { folder, cwd, path } = await project()
  const beside = join(folder, '.env')
  await writeFile(beside, 'FIRMLAKE_URL=https://elsewhere.example\n', { mode: 0o600 })
  const search = (uid?: number) => findConfig({ cwd, env: {}, named: path, uid })
  expect((await search()).env).toEqual({ FIRMLAKE_URL: 'https://elsewhere.example' })
  const theirs = await search(54_321)
  // Files of root count for everybody.
  if (process.getuid?.() === 0) {
    await chown(beside, 54_321, 54_321)
    const asked = await search()
    expect(asked).toMatchObject({ file: { path }, env: {} })
    expect(asked.notices).toEqual([expect.stringContaining(`"${beside}" belongs to another user`)])
    await chown(beside, 0, 0)
  } else expect(theirs.env).toEqual({})
  for (const [what, mode] of [
    [beside, 0o666],
    [folder, 0o777],
  ] as const) {
    await chmod(what, mode)
    const { env, notices } = await search()
    expect([env, notices.length]).toEqual([{}, 1])
    expect(notices[0]).toContain('others can write to')
    await chmod(what, what === folder ? 0o755 : 0o600)
  }
})

test('findConfig takes of .env what firmlake reads and what the file names, and says by name what it does not take', async () => {
  const { folder, cwd, path } = await project(
    '[service]\ntoken_env = "MY_TOKEN"\n[catalog]\ntoken_env = "NODE_OPTIONS"\n',
  )
  const kept = {
    ...{
      FIRMLAKE_LAKE: 'a',
      PGPASSWORD: 'b',
      AWS_REGION: 'c',
      OTEL_SDK_DISABLED: 'd',
      TEMPORAL_ADDRESS: 'e',
    },
    ...{ OPENLINEAGE_URL: 'f', MY_TOKEN: 'g' },
  }
  const left = {
    ...{
      NODE_OPTIONS: '--import=/tmp/x.mjs',
      LD_PRELOAD: '/tmp/x.so',
      PATH: '/tmp',
      SSL_CERT_FILE: '/tmp/ca',
    },
    ...{
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      HTTPS_PROXY: 'http://x',
      AWS_ALLOW_HTTP: 'true',
      OTHER: 'secret',
      FIRMLAKEX: 'x',
    },
  }
  const lines = Object.entries({ ...kept, ...left }).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(folder, '.env'), lines.join(''), { mode: 0o600 })
  for (const named of [undefined, path]) {
    const { env, notices } = await findConfig({ cwd, env: {}, named })
    expect(env).toEqual(kept)
    expect(notices).toHaveLength(1)
    for (const name of Object.keys(left)) expect(notices[0]).toContain(name)
    expect(notices[0]).not.toMatch(/secret|x\.mjs/)
  }
})

test('findConfig reads .env and its file with a byte order mark, and refuses UTF-16 by name', async () => {
  const { folder, cwd, path } = await project('\ufefflake = "lake"')
  const beside = join(folder, '.env')
  await writeFile(beside, '\ufeffFIRMLAKE_URL=a\nFIRMLAKE_TOKEN=b\n', { mode: 0o600 })
  const found = await findConfig({ cwd, env: {} })
  expect(found.env).toEqual({ FIRMLAKE_URL: 'a', FIRMLAKE_TOKEN: 'b' })
  expect(found.file?.settings.lake).toBe(join(folder, 'lake'))
  for (const file of [beside, path]) {
    await writeFile(file, Buffer.from('\ufeffFIRMLAKE_URL=a\n', 'utf16le'), { mode: 0o600 })
    await expect(findConfig({ cwd, env: {} })).rejects.toMatchObject({
      code: 'TEXT_NOT_UTF8',
      message: expect.stringContaining(`Cannot read "${file}": it is UTF-16`),
    })
    await writeFile(file, '', { mode: 0o600 })
  }
})

test('findConfig names no line of .env that is no variable, which may be a secret', async () => {
  const { folder, cwd } = await project()
  const lines = ['PEM=-----BEGIN', 'MIIEvQIBADANsecret==', 'abcDEF123456=', '\u001b[31mx=1', 'http_proxy=x']
  await writeFile(join(folder, '.env'), `${lines.join('\n')}\n`, { mode: 0o600 })
  const { notices } = await findConfig({ cwd, env: {} })
  expect(notices).toEqual([
    expect.stringContaining('also has PEM, http_proxy and 3 others, which are not taken'),
  ])
  expect(notices[0]).not.toMatch(/MII|abcDEF|\u001b/)
  const many = Array.from({ length: 500 }, (_, at) => `NAME_${at}=x\n`).join('')
  await writeFile(join(folder, '.env'), many, { mode: 0o600 })
  const [notice] = (await findConfig({ cwd, env: {} })).notices
  expect(notice).toContain(' and 490 others,')
})

test.each(['\n', '\r\n', '\r'])('findConfig reads a .env whose lines end with %j', async (end) => {
  const { folder, cwd } = await project()
  const lines = ['FIRMLAKE_URL=https://a.example', 'FIRMLAKE_TOKEN=b', '# no', 'PGUSER=c', '']
  await writeFile(join(folder, '.env'), lines.join(end), { mode: 0o600 })
  const { env, notices } = await findConfig({ cwd, env: {} })
  expect(env).toEqual({ FIRMLAKE_URL: 'https://a.example', FIRMLAKE_TOKEN: 'b', PGUSER: 'c' })
  expect(notices).toEqual([])
})

test.each([
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'PATH',
  'SSL_CERT_FILE',
  'OPENSSL_CONF',
  'HTTPS_PROXY',
  'GCONV_PATH',
])('findConfig never takes %s from .env, also where a key of the file names it', async (name) => {
  const { folder, cwd } = await project(`[service]\ntoken_env = "${name}"\n`)
  await writeFile(join(folder, '.env'), `${name}=/tmp/x\n`, { mode: 0o600 })
  const { env, notices } = await findConfig({ cwd, env: {} })
  expect(env).toEqual({})
  expect(notices).toEqual([expect.stringContaining(name)])
})
