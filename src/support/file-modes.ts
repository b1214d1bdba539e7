/**
 * Who may read and write what is made. New folders for data are their maker's alone; what is made inside such a folder
 * takes its mode bits and group, so that a shared one stays shared, whatever the umask. Knows nothing of lakes.
 * Errors are the system's own; on systems without users and groups nothing is set.
 */

import { constants, type Stats } from 'node:fs'
import { chmod, chown, type FileHandle, lstat, mkdir, open, readdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { STICKY } from './work-base.ts'

export const PRIVATE_FOLDER = 0o700
export const PRIVATE_FILE = 0o600

const SETGID = 0o2000
const GROUP_WRITES = 0o020
const GROUP_BITS = 0o070
const FOR_OTHERS = 0o007
const FILE_BITS = 0o666
/** Bits that a folder hands on: all but the right of everybody to write. */
const HANDED_ON = 0o2775

const hasUsers = process.getuid !== undefined

/** Mode and owner of a file or folder that is made in a folder. */
interface Access {
  readonly mode: number
  readonly group: number
}

const accessIn = async (folder: string): Promise<Access> => {
  const { mode, gid: group } = await stat(folder)
  // A folder for everybody, such as /tmp, shares nothing with them.
  return { mode: mode & STICKY ? PRIVATE_FOLDER : (mode & HANDED_ON) | PRIVATE_FOLDER, group }
}

/** Access to a file that is made in a folder. */
export type AccessIn = (folder: string) => Promise<Access>

/** Mode and group that the folder hands on. */
const inherited: AccessIn = async (folder) => {
  const { mode, group } = await accessIn(folder)
  return { mode: mode & FILE_BITS, group }
}

/** These mode bits, in the folder's group. */
export const withMode =
  (mode: number): AccessIn =>
  async (folder) => ({ ...(await accessIn(folder)), mode })

interface Settable {
  readonly stat: () => Promise<Stats>
  readonly chown: (user: number, group: number) => Promise<void>
  readonly chmod: (mode: number) => Promise<void>
}
const ofPath = (path: string): Settable => ({
  stat: () => stat(path),
  chown: (user, group) => chown(path, user, group),
  chmod: (mode) => chmod(path, mode),
})

const give = async (made: Settable, { mode, group }: Access): Promise<void> => {
  const found = await made.stat()
  // Another user's that was there before: its maker has seen to it.
  if (!hasUsers || (found.uid !== process.getuid?.() && process.getuid?.() !== 0)) return
  let target = mode
  if (found.gid !== group) {
    const taken = await made.chown(found.uid, group).then(
      () => true,
      () => false,
    )
    // In a group that is not the folder's nobody else was meant.
    if (!taken) target &= ~(GROUP_BITS | SETGID)
  }
  if ((found.mode & 0o7777) !== target) await made.chmod(target)
}

/** Gives a file that something else has made, such as DuckDB, what its folder hands on, or another folder. */
export const adoptFile = async (path: string, folder = dirname(path)): Promise<void> =>
  give(ofPath(path), await inherited(folder))

/** The same for each file directly in a folder. */
export const adoptFiles = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isFile()) await adoptFile(join(folder, entry.name))
}

/**
 * Access to a file that a person wants in a folder of theirs, such as an export or a log: their own, and the group's
 * where the folder is one to work in together (its group may write, or it hands its group on). Never everybody's.
 */
export const outputAccess: AccessIn = async (folder) => {
  const { mode, group } = await accessIn(folder)
  const isShared = (mode & (GROUP_WRITES | SETGID)) !== 0
  return { mode: mode & FILE_BITS & ~(isShared ? FOR_OTHERS : FOR_OTHERS | GROUP_BITS), group }
}

export const adoptOutput = async (path: string, folder = dirname(path)): Promise<void> =>
  give(ofPath(path), await outputAccess(folder))

/** Opens a file that is the maker's alone until it has what its folder hands on, or other access. Follows no symbolic link. */
export const openFile = async (path: string, flags: number, access = inherited): Promise<FileHandle> => {
  const handle = await open(path, flags | NO_FOLLOW, PRIVATE_FILE)
  try {
    await give(handle, await access(dirname(path)))
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}
const { O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_RDWR, O_WRONLY, O_NOFOLLOW = 0 } = constants
const NO_FOLLOW = O_NOFOLLOW

/** How a file is opened: new and only if there is none; emptied; at its end, to be read too; as it is. */
export const FILE_FLAGS = {
  new: O_WRONLY | O_CREAT | O_EXCL,
  emptied: O_RDWR | O_CREAT | O_TRUNC,
  appended: O_RDWR | O_CREAT | O_APPEND,
  asItIs: O_RDWR,
} as const

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

const checkFolder = async (path: string, mayBeLink: boolean): Promise<void> => {
  if (!mayBeLink && (await lstat(path)).isSymbolicLink())
    throw Object.assign(new Error(`"${path}" is a symbolic link, expected a folder`), { code: 'ELOOP' })
  if (!(await stat(path)).isDirectory())
    throw Object.assign(new Error(`"${path}" is a file, expected a folder`), { code: 'ENOTDIR' })
}

/** The folders from below `root` down to `path`. */
const below = (root: string, path: string): string[] => {
  const names = relative(root, path).split(sep)
  return names[0] === '' || names[0] === '..'
    ? []
    : names.map((_, at) => join(root, ...names.slice(0, at + 1)))
}

/**
 * Refuses a way that leads out of a folder: what is written or removed below it shall stand in it. The folder itself,
 * and those above it, may be links.
 *
 * @throws an error with the code ELOOP
 */
export const refuseLinks = async (root: string, ...paths: readonly string[]): Promise<void> => {
  for (const path of new Set(paths.flatMap((one) => below(resolve(root), resolve(one)))))
    await checkFolder(path, false).catch((error: unknown) => {
      if (codeOf(error) === 'ELOOP') throw error
    })
}

const makeOne = async (path: string, mayBeLink: boolean, mode: number | undefined): Promise<boolean> => {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    await checkFolder(path, mayBeLink)
    return false
  }
  if (mode === undefined) await give(ofPath(path), await accessIn(dirname(path)))
  // Not by `mkdir` itself: the umask takes bits from what that is given.
  else if (hasUsers && mode !== PRIVATE_FOLDER) await chmod(path, mode)
  return true
}

export interface FolderOptions {
  /** A folder that holds this one. Below it, new folders take what it hands on and links are refused. @default itself */
  readonly within?: string | undefined
  /** Mode bits of that folder where it is new. @default 0o700 (whoever makes it, and nobody else) */
  readonly mode?: number | undefined
}

/**
 * Makes a folder with those above it. An existing one is fine, and stays as it is.
 *
 * @returns the folders that were made, the uppermost first
 * @throws an error with the code ELOOP where a symbolic link stands below `within`
 */
export const makeFolders = async (
  path: string,
  { within = path, mode = PRIVATE_FOLDER }: FolderOptions = {},
): Promise<readonly string[]> => {
  const [root, whole] = [resolve(within), resolve(path)]
  const made: string[] = []
  const make = async (folder: string, mayBeLink: boolean, bits: number | undefined): Promise<void> => {
    if (await makeOne(folder, mayBeLink, bits)) made.push(folder)
  }
  const above = async (folder: string): Promise<void> => {
    try {
      await make(folder, true, mode)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error
      await above(dirname(folder))
      await make(folder, true, mode)
    }
  }
  await above(below(root, whole).length > 0 ? root : whole)
  for (const folder of below(root, whole)) await make(folder, false, undefined)
  return made
}
