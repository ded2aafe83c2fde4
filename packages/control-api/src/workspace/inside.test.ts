/** Tests with real files, both with and without `/proc/self/fd`. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import { TuttiError } from '@tutti/core'
import { decode } from '@tutti/protocol'
import { WorkspaceFiles } from '@tutti/protocol/internal'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { formatFileTime, listDirectory } from './list-directory.ts'
import { openInside, assertStillInside, toWorkspaceError, type Root } from './open-inside.ts'
import { MAX_FILE_BYTES, readTextFile } from './read-text-file.ts'

/** Ways to locate an open file: by its descriptor, as on Linux, or by its path, as elsewhere. */
const SYSTEMS = [
  ['that reports the paths of open files', process.platform === 'linux'],
  ['that does not report them', false],
] as const

let base: string
let inside: string
let outside: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-workspace-')))
  inside = join(base, 'inside')
  outside = join(base, 'outside')
  for (const directory of [inside, outside]) mkdirSync(join(directory, 'docs'), { recursive: true })
  writeFileSync(join(inside, 'a.txt'), 'inside')
  writeFileSync(join(inside, 'docs/b.txt'), 'inside docs')
  writeFileSync(join(outside, 'a.txt'), 'SECRET')
  writeFileSync(join(outside, 'docs/b.txt'), 'SECRET')
})

afterEach(() => {
  rmSync(base, { recursive: true })
})

it.each([
  ['ENOENT', 'NOT_FOUND'],
  ['ENOTDIR', 'NOT_FOUND'],
  ['ELOOP', 'NOT_FOUND'],
  ['ENAMETOOLONG', 'NOT_FOUND'],
  ['ENXIO', 'NOT_FOUND'],
  ['EACCES', 'FORBIDDEN'],
  ['EPERM', 'FORBIDDEN'],
])('The system error %s is reported as %s, without the real path', (code, expected) => {
  const error = Object.assign(new Error(`${code}: /real/a.txt`), { code, syscall: 'open' })
  const reported = toWorkspaceError(error, 'a.txt')
  expect(reported).toMatchObject({ code: expected, message: expect.not.stringContaining('real') })
})

it('Other errors are reported as they are', () => {
  for (const error of [
    new Error('bug'),
    Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'read' }),
    Object.assign(new Error('not of the system'), { code: 'ENOENT' }),
  ]) {
    expect(toWorkspaceError(error, 'a.txt')).toBe(error)
  }
})

describe.each(SYSTEMS)('on a system %s', (_title, namesOpenFiles) => {
  const root = (): Root => ({ path: inside, namesOpenFiles })

  /** Returns the text of a file, or the code of the error. */
  async function read(path: string): Promise<string> {
    try {
      return (await readTextFile(root(), path)).toString()
    } catch (error) {
      if (!TuttiError.isInstance(error)) throw error
      expect(error.message).not.toContain(base)
      return error.code
    }
  }

  /** Returns the names in a directory, or the code of the error. */
  async function list(path = ''): Promise<readonly string[]> {
    try {
      const entries = await listDirectory(root(), path)
      expect(decode(WorkspaceFiles, entries)).toMatchObject({ ok: true })
      return entries.map(({ name, type }) => (type === 'directory' ? `${name}/` : name))
    } catch (error) {
      if (!TuttiError.isInstance(error)) throw error
      return [error.code]
    }
  }

  it('The workspace reads a file unchanged, with byte order mark and line endings', async () => {
    const text = '\ufeffgröße 😀\r\n\0'
    writeFileSync(join(inside, 'odd.txt'), text)
    expect(await read('odd.txt')).toBe(text)
    expect(await read('docs//./b.txt')).toBe('inside docs')
    writeFileSync(join(inside, 'empty'), '')
    expect(await read('empty')).toBe('')
  })

  it('The workspace lists a directory with sizes and times: directories first, each sorted by name', async () => {
    mkdirSync(join(inside, 'Z'))
    writeFileSync(join(inside, 'B.txt'), '12345')
    utimesSync(join(inside, 'B.txt'), 1, 1_700_000_000)
    expect(await list()).toEqual(['Z/', 'docs/', 'B.txt', 'a.txt'])
    expect(await list('docs/')).toEqual(['b.txt'])
    const [directory, , file] = await listDirectory(root(), '.')
    expect(directory).toEqual({ name: 'Z', type: 'directory', lastModified: expect.any(String) })
    expect(file).toEqual({
      name: 'B.txt',
      type: 'file',
      size: 5,
      lastModified: '2023-11-14T22:13:20.000Z',
    })
    mkdirSync(join(inside, 'Z/empty'))
    expect(await list('Z/empty')).toEqual([])
  })

  it('The workspace returns NOT_FOUND for missing paths and for entries of the wrong kind', async () => {
    expect(await read('none.txt')).toBe('NOT_FOUND')
    expect(await read('none/none.txt')).toBe('NOT_FOUND')
    expect(await read('a.txt/b')).toBe('NOT_FOUND')
    expect(await read('docs')).toBe('NOT_FOUND')
    expect(await read('')).toBe('NOT_FOUND')
    expect(await read('x'.repeat(300))).toBe('NOT_FOUND')
    expect(await list('none')).toEqual(['NOT_FOUND'])
    expect(await list('a.txt')).toEqual(['NOT_FOUND'])
  })

  it.each<[string, string, string]>([
    ['an absolute link to a file', 'OUT/a.txt', 'link'],
    ['a relative link to a file', '../outside/a.txt', 'link'],
    ['a link to a directory', '../outside', 'link/a.txt'],
    ['a link to the directory above', '..', 'link/outside/a.txt'],
    ['a link to the root directory', '/', 'link/etc/hostname'],
    ['a link to a directory with the same prefix', '../inside-2/a.txt', 'link'],
    ['a link to this process', '/proc/self/environ', 'link'],
  ])('[API-O1] The workspace refuses %s', async (_kind, target, path) => {
    mkdirSync(`${inside}-2`)
    writeFileSync(`${inside}-2/a.txt`, 'SECRET')
    symlinkSync(target.replace('OUT', outside), join(inside, 'link'))
    expect(await read(path)).toBe('FORBIDDEN')
    expect(await list()).toEqual(['docs/', 'a.txt'])
    if (path !== 'link') expect(await list('link')).toEqual(['FORBIDDEN'])
  })

  it('[API-O1] The workspace does not reveal the kind of an entry outside of the workspace', async () => {
    symlinkSync('../outside', join(inside, 'directory'))
    symlinkSync('../outside/a.txt', join(inside, 'file'))
    expect([await read('directory'), await read('file')]).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    expect([await list('directory'), await list('file')]).toEqual([['FORBIDDEN'], ['FORBIDDEN']])
  })

  it('[API-O1] The workspace follows a link inside the workspace, and lists it as its target', async () => {
    symlinkSync('docs', join(inside, 'to-docs'))
    symlinkSync(join(inside, 'a.txt'), join(inside, 'to-a'))
    expect(await list()).toEqual(['docs/', 'to-docs/', 'a.txt', 'to-a'])
    expect(await list('to-docs')).toEqual(['b.txt'])
    expect(await read('to-docs/b.txt')).toBe('inside docs')
    expect(await read('to-a')).toBe('inside')
  })

  it('The workspace returns NOT_FOUND for circular and broken links', async () => {
    symlinkSync('round', join(inside, 'round'))
    symlinkSync('nothing', join(inside, 'dangling'))
    expect(await list()).toEqual(['docs/', 'a.txt'])
    expect(await read('round')).toBe('NOT_FOUND')
    expect(await read('dangling')).toBe('NOT_FOUND')
  })

  it('The workspace hides hidden entries, also behind links and in hidden directories', async () => {
    writeFileSync(join(inside, '.env'), 'KEY=1')
    mkdirSync(join(inside, '.git'))
    writeFileSync(join(inside, '.git/config'), 'SECRET')
    symlinkSync('.env', join(inside, 'env'))
    symlinkSync('.git', join(inside, 'git'))
    expect(await list()).toEqual(['docs/', 'a.txt'])
    for (const path of ['.env', '.git/config', 'env', 'git/config']) {
      expect(await read(path)).toBe('NOT_FOUND')
    }
    for (const path of ['.git', 'git']) expect(await list(path)).toEqual(['NOT_FOUND'])
  })

  it('[API-O3] The workspace neither reads nor lists pipes, sockets and devices', async () => {
    const { status } = spawnSync('mkfifo', [join(inside, 'pipe')])
    expect(status).toBe(0)
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(join(inside, 'socket'), resolve)
    })
    expect(await list()).toEqual(['docs/', 'a.txt'])
    expect([await read('pipe'), await read('socket')]).toEqual(['NOT_FOUND', 'NOT_FOUND'])
    server.close()
    const devices: Root = { path: '/dev', namesOpenFiles }
    await expect(readTextFile(devices, 'zero')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await listDirectory(devices, '')).some(({ name }) => name === 'null')).toBe(false)
  })

  it('The workspace reads at most 1 MiB, also when the size is not known in advance', async () => {
    writeFileSync(join(inside, 'big'), 'x'.repeat(MAX_FILE_BYTES))
    expect(await read('big')).toHaveLength(MAX_FILE_BYTES)
    writeFileSync(join(inside, 'big'), 'x'.repeat(MAX_FILE_BYTES + 1))
    expect(await read('big')).toBe('PAYLOAD_TOO_LARGE')
    truncateSync(join(inside, 'big'), 10 * 1024 ** 3)
    expect(await read('big')).toBe('PAYLOAD_TOO_LARGE')
  })

  it.runIf(process.platform === 'linux')(
    'The workspace does not trust the reported size of a file',
    async () => {
      const system: Root = { path: '/proc', namesOpenFiles }
      expect((await readTextFile(system, 'version')).toString()).toContain('Linux')
      // The reported size is 0, and the content is far larger than the limit.
      await expect(readTextFile(system, 'kallsyms')).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
      })
    },
  )

  it.each([
    ['Latin-1', [0x67, 0x72, 0xf6]],
    ['half a character', [0x67, 0xc3]],
    ['UTF-16', [0xff, 0xfe, 0x67, 0x00]],
    ['an overlong slash', [0xc0, 0xaf]],
  ])('The workspace refuses content that is not UTF-8: %s', async (_title, bytes) => {
    writeFileSync(join(inside, 'bytes'), Buffer.from(bytes))
    expect(await read('bytes')).toBe('UNSUPPORTED_MEDIA_TYPE')
  })

  it.skipIf(process.getuid?.() === 0)(
    'The workspace returns FORBIDDEN for a file without read permission',
    async () => {
      chmodSync(join(inside, 'a.txt'), 0)
      expect(await read('a.txt')).toBe('FORBIDDEN')
      chmodSync(join(inside, 'a.txt'), 0o600)
    },
  )

  it('The workspace omits names that requests cannot ask for', async () => {
    writeFileSync(join(inside, 'a\nb'), '')
    writeFileSync(join(inside, 'a\\b'), '')
    writeFileSync(Buffer.concat([Buffer.from(`${inside}/bad-`), Buffer.from([0xff])]), '')
    expect(await list()).toEqual(['docs/', 'a.txt'])
  })

  it('The workspace reads a hard link like any other file of the workspace', async () => {
    linkSync(join(inside, 'docs/b.txt'), join(inside, 'hard'))
    expect(await read('hard')).toBe('inside docs')
  })

  it('[API-O2] The workspace refuses a directory that was moved out of the workspace after it was opened', async () => {
    const opened = await openInside(root(), 'docs', 'directory')
    try {
      await assertStillInside(root(), opened, 'docs')
      renameSync(join(inside, 'docs'), join(outside, 'moved'))
      symlinkSync(outside, join(inside, 'docs'))
      await expect(assertStillInside(root(), opened, 'docs')).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
    } finally {
      await opened.handle.close()
    }
  })

  it('[API-O2] The workspace refuses a directory that another one has replaced after it was opened', async () => {
    const opened = await openInside(root(), 'docs', 'directory')
    try {
      renameSync(join(inside, 'docs'), join(outside, 'moved'))
      mkdirSync(join(inside, 'docs'))
      await expect(assertStillInside(root(), opened, 'docs')).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
    } finally {
      await opened.handle.close()
    }
  })

  it('The workspace refuses a directory with too many entries instead of listing only some', async () => {
    for (const name of ['1', '2', '.hidden']) writeFileSync(join(inside, name), '')
    expect(await listDirectory(root(), '', { maxEntries: 4 })).toHaveLength(4)
    await expect(listDirectory(root(), '', { maxEntries: 3 })).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'Directory "." has more than 3 entries',
    })
  })

  it.runIf(namesOpenFiles)(
    '[API-O2] The workspace exposes nothing outside of the workspace while a thread swaps links',
    async () => {
      await using swapper = await startSwapper()
      for (let call = 0; call < 500 || swapper.rounds < 100; call += 1) {
        expect(['inside', 'NOT_FOUND', 'FORBIDDEN']).toContain(await read('a.txt'))
        expect(['inside docs', 'NOT_FOUND', 'FORBIDDEN']).toContain(await read('docs/b.txt'))
        expect(await list('docs')).not.toContain('secret.txt')
      }
    },
  )
})

it.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [Date.UTC(9999, 11, 31), '9999-12-31T00:00:00.000Z'],
  [Date.UTC(10_000, 0, 1), undefined],
  [-1e14, undefined],
  [1e300, undefined],
  [Number.NaN, undefined],
])('The file time %d is formatted as %s', (ms, instant) => {
  expect(formatFileTime(ms)).toBe(instant)
})

/** Swaps links until it is stopped. Each state lasts as long as a call, so that calls fall between swaps. */
const SWAPPER = `
  const { renameSync, symlinkSync, unlinkSync, writeFileSync } = require('node:fs')
  const { workerData, parentPort } = require('node:worker_threads')
  const { inside, outside, state } = workerData
  const shared = new Int32Array(state)
  const stay = () => { for (const until = performance.now() + 0.1; performance.now() < until;); }
  while (Atomics.load(shared, 0) === 0) {
    symlinkSync(outside + '/a.txt', inside + '/link')
    renameSync(inside + '/link', inside + '/a.txt')
    renameSync(inside + '/docs', inside + '/parked')
    symlinkSync(outside + '/docs', inside + '/docs')
    stay()
    writeFileSync(inside + '/fresh', 'inside')
    renameSync(inside + '/fresh', inside + '/a.txt')
    unlinkSync(inside + '/docs')
    renameSync(inside + '/parked', inside + '/docs')
    stay()
    Atomics.add(shared, 1, 1)
  }
  parentPort.postMessage('stopped')`

/** Starts a thread that swaps links until it is disposed. */
async function startSwapper(): Promise<AsyncDisposable & { readonly rounds: number }> {
  writeFileSync(join(outside, 'docs/secret.txt'), 'SECRET')
  const state = new SharedArrayBuffer(8)
  const shared = new Int32Array(state)
  const worker = new Worker(SWAPPER, { eval: true, workerData: { inside, outside, state } })
  await new Promise<void>((resolve, reject) => {
    worker.once('online', resolve).once('error', reject)
  })
  return {
    get rounds() {
      return Atomics.load(shared, 1)
    },
    async [Symbol.asyncDispose]() {
      const stopped = new Promise((resolve) => worker.once('message', resolve))
      Atomics.store(shared, 0, 1)
      await stopped
      await worker.terminate()
    },
  }
}
