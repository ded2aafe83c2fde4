import { spawnSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { assertClosed } from '../../test/assert-closed.ts'
import { toFileError } from './file-error.ts'
import { locate } from './locate.ts'
import { OpenDirectory } from './open-directory.ts'
import { splitPath } from './path-parts.ts'
import { readFileText } from './read-text.ts'
import { replaceFile } from './replace-file.ts'
import { createSandbox } from './sandbox.ts'

/** Ways to resolve names: in the open directory, as on Linux, and by path, as on other systems. */
const LOOKUPS = [
  ['in the open directory', process.platform === 'linux'],
  ['by the path', false],
] as const

let home: string
let inside: string
let outside: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-escapes-')))
  inside = join(home, 'inside')
  outside = join(home, 'outside')
  mkdirSync(join(inside, 'docs'), { recursive: true })
  mkdirSync(join(outside, 'docs'), { recursive: true })
  writeFileSync(join(inside, 'a.txt'), 'inside')
  writeFileSync(join(inside, 'docs/b.txt'), 'inside docs')
  writeFileSync(join(outside, 'secret.txt'), 'SECRET')
  writeFileSync(join(outside, 'docs/b.txt'), 'SECRET')
})

afterEach(() => {
  assertClosed(home)
  rmSync(home, { recursive: true })
})

/** Returns everything outside the sandbox, to check that it is unchanged. */
function outsideNow(): readonly string[] {
  return readdirSync(outside, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return `${path}: ${entry.isFile() ? readFileSync(path, 'utf8') : 'no file'}`
    })
    .toSorted()
}

/** Creates a named pipe; Node has no function for it. */
function makePipe(path: string): void {
  const { status } = spawnSync('sh', ['-c', 'mkfifo "$1"', 'sh', path])
  if (status !== 0) throw new Error('Cannot make a pipe')
}

describe.each(LOOKUPS)('file tools that resolve names %s', (_title, namesOpenFiles) => {
  const sandbox = (directory = inside): ReturnType<typeof createSandbox> => ({
    ...createSandbox(directory, 'test'),
    namesOpenFiles,
  })

  async function attempt(act: () => Promise<string>, path: string): Promise<string> {
    try {
      return await act()
    } catch (error) {
      const known = toFileError(error, 'read', path)
      if (known instanceof Error && known.name === 'FileError') return `FAILED ${known.message}`
      throw known
    }
  }

  function read(path: string, directory?: string): Promise<string> {
    const { signal } = new AbortController()
    return attempt(async () => {
      const location = await locate(sandbox(directory), splitPath(path), { path, signal })
      try {
        return await readFileText(location, { path, maxBytes: 1_000, signal })
      } finally {
        await location.directory.close()
      }
    }, path)
  }

  function write(path: string, directory?: string): Promise<string> {
    const { signal } = new AbortController()
    return attempt(async () => {
      const location = await locate(sandbox(directory), splitPath(path), {
        path,
        signal,
        makeDirectories: true,
      })
      try {
        return (await replaceFile(location, Buffer.from('WRITTEN'), { path, signal })).changeType
      } finally {
        await location.directory.close()
      }
    }, path)
  }

  describe('[TOOLS-L1] a link out of the sandbox is refused for reading and writing', () => {
    it.each<[string, (link: string) => void, string]>([
      [
        'an absolute link to a file',
        (link) => {
          symlinkSync(join(outside, 'secret.txt'), link)
        },
        'link',
      ],
      [
        'a relative link to a file',
        (link) => {
          symlinkSync('../outside/secret.txt', link)
        },
        'link',
      ],
      [
        'a link to a directory',
        (link) => {
          symlinkSync(outside, link)
        },
        'link/secret.txt',
      ],
      [
        'a relative link to a directory',
        (link) => {
          symlinkSync('../outside', link)
        },
        'link/docs/b.txt',
      ],
      [
        'a link to a link',
        (link) => {
          symlinkSync('../outside/secret.txt', `${link}2`)
          symlinkSync('link2', link)
        },
        'link',
      ],
      [
        'a link to a directory with a link',
        (link) => {
          symlinkSync('../../outside', join(inside, 'docs/out'))
          symlinkSync('docs', link)
        },
        'link/out/secret.txt',
      ],
      [
        'a link to a file that is not there',
        (link) => {
          symlinkSync(join(outside, 'new.txt'), link)
        },
        'link',
      ],
      [
        'a link to a directory that is not there',
        (link) => {
          symlinkSync('../outside/new', link)
        },
        'link/a.txt',
      ],
      [
        'a link to the directory above',
        (link) => {
          symlinkSync('..', link)
        },
        'link/outside/secret.txt',
      ],
      [
        'a link that goes up and comes back',
        (link) => {
          symlinkSync('../inside/a.txt', link)
        },
        'link',
      ],
      [
        'a link to the root',
        (link) => {
          symlinkSync('/', link)
        },
        'link/etc/hostname',
      ],
      [
        'a link to a name that starts alike',
        (link) => {
          mkdirSync(`${inside}-2`)
          symlinkSync(`${inside}-2`, link)
        },
        'link/a.txt',
      ],
      [
        'an absolute link that goes in and up',
        (link) => {
          symlinkSync(`${inside}/../outside/secret.txt`, link)
        },
        'link',
      ],
      [
        'a link to this process',
        (link) => {
          symlinkSync('/proc/self/cwd', link)
        },
        'link/package.json',
      ],
    ])('The file tools refuse %s out of the sandbox', async (_kind, make, path) => {
      make(join(inside, 'link'))
      const before = outsideNow()
      const denied = `FAILED Access denied: ${path}: it is outside the directory of this tool`
      expect(await read(path)).toBe(denied)
      expect(await write(path)).toBe(denied)
      expect(outsideNow()).toEqual(before)
      expect(readFileSync(join(inside, 'a.txt'), 'utf8')).toBe('inside')
    })

    it('A link out of the sandbox is refused with the same message whether its target exists or not', async () => {
      symlinkSync(outside, join(inside, 'link'))
      expect(await read('link/secret.txt')).toBe(
        (await read('link/nothing.txt')).replace('nothing', 'secret'),
      )
    })
  })

  describe('[TOOLS-L2] a link within the sandbox is followed for reading and writing', () => {
    it.each<[string, string, string, string]>([
      ['to a file', 'a.txt', 'link', 'a.txt'],
      ['to a directory', 'docs', 'link/b.txt', 'docs/b.txt'],
      ['to a directory with a slash', './docs/', 'link/b.txt', 'docs/b.txt'],
      ['to itself by the sandbox', '.', 'link/link/link/a.txt', 'a.txt'],
      ['up and down', 'docs/../docs/./b.txt', 'link', 'docs/b.txt'],
    ])('A link within the sandbox is followed %s', async (_kind, target, path, file) => {
      symlinkSync(target, join(inside, 'link'))
      expect(await read(path)).toBe(readFileSync(join(inside, file), 'utf8'))
      expect(await write(path)).toBe('MODIFIED')
      expect(readFileSync(join(inside, file), 'utf8')).toBe('WRITTEN')
      expect(await read(path)).toBe('WRITTEN')
    })

    it('A link within the sandbox is followed from a deeper directory upwards', async () => {
      symlinkSync('../a.txt', join(inside, 'docs/link'))
      symlinkSync('..', join(inside, 'docs/up'))
      expect(await read('docs/link')).toBe('inside')
      expect(await read('docs/up/docs/up/a.txt')).toBe('inside')
    })

    it('A link within the sandbox is followed with an absolute path through any name of the sandbox', async () => {
      symlinkSync(inside, join(home, 'alias'))
      symlinkSync(join(inside, 'a.txt'), join(inside, 'link'))
      symlinkSync(join(home, 'alias/a.txt'), join(inside, 'link2'))
      expect(await read('link', join(home, 'alias'))).toBe('inside')
      expect(await read('link2', join(home, 'alias'))).toBe('inside')
      expect(await read('link2')).toContain('Access denied')
    })

    it('A link within the sandbox is followed with an absolute path when the sandbox was configured with a relative one', async () => {
      symlinkSync(inside, join(home, 'alias'))
      symlinkSync(join(home, 'alias/a.txt'), join(inside, 'link'))
      const before = process.cwd()
      process.chdir(home)
      try {
        expect(await read('link', 'alias')).toBe('inside')
      } finally {
        process.chdir(before)
      }
    })

    it('A link within the sandbox is followed to a missing file, which is created', async () => {
      symlinkSync('docs/new.txt', join(inside, 'link'))
      symlinkSync('made/here', join(inside, 'directory'))
      expect(await read('link')).toBe('FAILED File not found: link')
      expect(await write('link')).toBe('CREATED')
      expect(await write('directory/c.txt')).toBe('CREATED')
      expect(readFileSync(join(inside, 'docs/new.txt'), 'utf8')).toBe('WRITTEN')
      expect(readFileSync(join(inside, 'made/here/c.txt'), 'utf8')).toBe('WRITTEN')
    })

    it('A link within the sandbox is followed with ".." relative to the target of a link, as the system does', async () => {
      mkdirSync(join(inside, 'x/y'), { recursive: true })
      writeFileSync(join(inside, 'x/a.txt'), 'beside y')
      symlinkSync('x/y', join(inside, 'to-y'))
      symlinkSync('to-y/../a.txt', join(inside, 'link'))
      expect(await read('link')).toBe(readFileSync(join(inside, 'link'), 'utf8'))
      expect(await read('link')).toBe('beside y')
    })

    it('A link within the sandbox is not followed in a cycle', async () => {
      symlinkSync('round', join(inside, 'round'))
      symlinkSync('pong', join(inside, 'ping'))
      symlinkSync('ping', join(inside, 'pong'))
      for (const path of ['round', 'ping', 'ping/a.txt']) {
        expect(await read(path)).toBe(`FAILED Access denied: ${path}: too many symbolic links`)
        expect(await write(path)).toBe(`FAILED Access denied: ${path}: too many symbolic links`)
      }
    })
  })

  describe('something other than a file is refused immediately', () => {
    it('A directory is refused immediately', async () => {
      expect(await read('docs')).toBe('FAILED Not a file: docs is a directory')
      expect(await write('docs')).toBe('FAILED Not a file: docs is a directory')
      symlinkSync('docs', join(inside, 'link'))
      expect(await read('link')).toBe('FAILED Not a file: link is a directory')
      symlinkSync('.', join(inside, 'here'))
      expect(await write('here')).toBe('FAILED Not a file: here is a directory')
    })

    it('A pipe without a writer is refused immediately', async () => {
      makePipe(join(inside, 'pipe'))
      const refused = 'FAILED Not a file: pipe is a pipe, a socket or a device'
      expect(await read('pipe')).toBe(refused)
      expect(await write('pipe')).toBe(refused)
    })

    it('A socket is refused immediately', async () => {
      const server = createServer()
      await new Promise<void>((resolve) => {
        server.listen(join(inside, 'socket'), resolve)
      })
      expect(await read('socket')).toContain('Not a file: socket is a pipe, a socket')
      expect(await write('socket')).toContain('Not a file: socket is a pipe, a socket')
      server.close()
    })

    it('A path below a file is refused immediately', async () => {
      expect(await read('a.txt/b')).toContain(
        'Cannot read a.txt/b: a part of its path is not a directory',
      )
      expect(await write('a.txt/b')).toContain('a part of its path is not a directory')
    })
  })

  it('The file tools writes new content to a hard link and leaves the file outside unchanged', async () => {
    linkSync(join(outside, 'secret.txt'), join(inside, 'hard.txt'))
    expect(await write('hard.txt')).toBe('MODIFIED')
    expect(readFileSync(join(inside, 'hard.txt'), 'utf8')).toBe('WRITTEN')
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET')
  })

  it.each([
    ['a link', 'alias'],
    ['steps up', 'inside/../inside'],
    ['a slash at its end', 'inside/'],
  ])('The file tools accepts a sandbox path with %s', async (_title, name) => {
    symlinkSync(inside, join(home, 'alias'))
    const directory = `${home}/${name}`
    expect(await read('docs/b.txt', directory)).toBe('inside docs')
    expect(await write('docs/new.txt', directory)).toBe('CREATED')
    symlinkSync('../outside', join(inside, 'link'))
    expect(await read('link/secret.txt', directory)).toContain('Access denied')
  })

  describe('[TOOLS-L3] concurrent changes make resolution fail', () => {
    it('[TOOLS-O1] The resolution of a path does not enter a directory or open a file that has become a link', async () => {
      const directory = await OpenDirectory.root(sandbox())
      try {
        symlinkSync('docs', join(inside, 'link'))
        symlinkSync('a.txt', join(inside, 'file-link'))
        await expect(directory.enter('link', 'link')).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:ENOTDIR|ELOOP)$/),
        })
        const { signal } = new AbortController()
        const location = { directory, name: 'file-link' }
        const options = { path: 'file-link', maxBytes: 1_000, signal }
        const became = 'Access denied: file-link: it has become a symbolic link'
        await expect(readFileText(location, options)).rejects.toThrow(became)
        await expect(replaceFile(location, Buffer.from(''), options)).rejects.toThrow(became)
      } finally {
        await directory.close()
      }
    })

    it('The resolution of a path does not read a file that has become a pipe', async () => {
      const directory = await OpenDirectory.root(sandbox())
      try {
        makePipe(join(inside, 'pipe'))
        const aFile = await directory.statOf('a.txt')
        const asBefore = new Proxy(directory, {
          get: (target, name) => {
            if (name === 'statOf') return () => Promise.resolve(aFile)
            const member: unknown = Reflect.get(target, name, target)
            return typeof member === 'function' ? member.bind(target) : member
          },
        })
        const options = { path: 'pipe', maxBytes: 1_000, signal: new AbortController().signal }
        await expect(readFileText({ directory: asBefore, name: 'pipe' }, options)).rejects.toThrow(
          'Not a file: pipe is a pipe, a socket or a device',
        )
      } finally {
        await directory.close()
      }
    })

    it('[TOOLS-O2] The resolution of a path does not use a directory that was moved out of the sandbox', async () => {
      const root = await OpenDirectory.root(sandbox())
      mkdirSync(join(inside, 'docs/deep'))
      const directory = await root.enter('docs', 'docs')
      try {
        const { signal } = new AbortController()
        const options = { path: 'docs/b.txt', maxBytes: 1_000, signal }
        renameSync(join(inside, 'docs'), join(outside, 'moved'))
        mkdirSync(join(inside, 'docs/deep'), { recursive: true })
        writeFileSync(join(inside, 'docs/b.txt'), 'another')
        const before = outsideNow()
        const failed = /it is outside the directory|ENOENT/
        if (namesOpenFiles) {
          // When names are resolved by path, both are found in the new directory.
          await expect(directory.enter('deep', 'docs/deep')).rejects.toThrow(failed)
          await expect(readFileText({ directory, name: 'b.txt' }, options)).rejects.toThrow(failed)
        }
        await expect(
          replaceFile({ directory, name: 'new.txt' }, Buffer.from('x'), options),
        ).rejects.toThrow(failed)
        expect(outsideNow()).toEqual(before)
      } finally {
        await directory.close()
        await root.close()
      }
    })
  })
})
