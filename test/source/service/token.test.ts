import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createService } from '../../../src/source/service/service.ts'
import { readToken } from '../../../src/source/service/token.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const tokenFile = async (text: string): Promise<string> => {
  const file = join(await temporaryFolder(), 'token')
  await writeFile(file, text)
  return file
}

test('readToken takes the environment', async () => {
  expect(await readToken({ env: 'abc.DEF-1_2~3+/==' })).toBe('abc.DEF-1_2~3+/==')
})

test('readToken takes a file before the environment, without the white space around it', async () => {
  expect(await readToken({ env: 'other', file: await tokenFile(' abc\r\n\n') })).toBe('abc')
})

test.each([{}, { env: '' }])('readToken says that there is none: %j', async (places) => {
  await expect(readToken(places)).rejects.toMatchObject({ code: 'TOKEN_MISSING' })
})

test('readToken says that a file is empty or not there', async () => {
  const file = await tokenFile(' \n')
  await expect(readToken({ file })).rejects.toMatchObject({ code: 'TOKEN_MISSING' })
  await expect(readToken({ file: `${file}.none` })).rejects.toMatchObject({
    code: 'TOKEN_MISSING',
    message: expect.stringContaining('it does not exist'),
  })
})

test.each(['secret with space', 'secret\nline', 'secrét', 'sec=ret', '=', 'secret"', 'secret\u0000'])(
  'a token %j is refused and not repeated',
  async (token) => {
    const refused = expect.objectContaining({
      code: 'TOKEN_INVALID',
      message: expect.not.stringContaining('sec'),
    })
    await expect(readToken({ env: token })).rejects.toEqual(refused)
    await expect(readToken({ file: await tokenFile(token) })).rejects.toMatchObject({
      code: token.includes('\0') ? 'TEXT_NOT_UTF8' : 'TOKEN_INVALID',
    })
    expect(() => createService({ url: 'https://a.example', token })).toThrow(refused)
  },
)
