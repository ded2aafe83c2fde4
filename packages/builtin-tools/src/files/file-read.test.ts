import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { runTool, type ToolCallOutcome } from '@tutti/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { assertClosed } from '../../test/assert-closed.ts'
import { contextWithSignal } from '../../test/context-with-signal.ts'
import { fileRead, type FileReadInput, type FileReadOptions } from './file-read.ts'

let directory: string

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-read-')))
})

afterEach(() => {
  assertClosed(directory)
  rmSync(directory, { recursive: true })
})

function call(path: unknown, options: Partial<FileReadOptions> = {}): Promise<ToolCallOutcome> {
  const tool = fileRead({ directory, ...options })
  return runTool(tool, { id: '1', name: tool.name, arguments: JSON.stringify({ path }) })
}

/** Returns the text of the result or of the failure. */
async function read(path: string, options: Partial<FileReadOptions> = {}): Promise<string> {
  const { result, end } = await call(path, options)
  expect(end).toBe('finished')
  return result.success ? result.output : `FAILED ${result.errorMessage}`
}

function put(path: string, content: string | readonly number[]): void {
  writeFileSync(join(directory, path), typeof content === 'string' ? content : Buffer.from(content))
}

describe('file_read', () => {
  it.each([
    ['text', 'line 1\nline 2\n'],
    ['an empty file', ''],
    ['letters of many bytes', 'größe 😀 \u2028 字'],
    ['line ends as they are', 'a\r\nb\rc\n'],
  ])('file_read reads %s', async (_title, content) => {
    put('a.txt', content)
    expect(await read('a.txt')).toBe(content)
  })

  it.each(['docs/deep/a.txt', './docs/deep/a.txt', 'docs//deep/./a.txt'])(
    'file_read reads %s',
    async (path) => {
      mkdirSync(join(directory, 'docs/deep'), { recursive: true })
      put('docs/deep/a.txt', 'deep')
      expect(await read(path)).toBe('deep')
    },
  )

  it('file_read reads a file in more than one piece', async () => {
    const content = '0123456789ä'.repeat(20_000)
    put('a.txt', content)
    expect(await read('a.txt')).toBe(content)
  })

  it('file_read removes the byte order mark of UTF-8', async () => {
    put('a.txt', [0xef, 0xbb, 0xbf, 0x68, 0x69])
    expect(await read('a.txt')).toBe('hi')
  })

  it.each(['-', ' a ', '#?&%20', 'ü', 'u\u0308', '~', '...', 'ab:c', 'CON', '$(id)', '*'])(
    'file_read reads a file named %j',
    async (name) => {
      put(name, `I am ${name}`)
      expect(await read(name)).toBe(`I am ${name}`)
    },
  )
})

describe('file_read fails for', () => {
  it.each([
    ['nothing.txt', 'File not found: nothing.txt'],
    ['no/such/directory.txt', 'File not found: no/such/directory.txt'],
    ['', 'Path must not be blank'],
    ['../secret', 'Access denied: ../secret: a path must not contain ".."'],
    [
      '/etc/hostname',
      'Access denied: /etc/hostname: a path must be relative to the directory of this tool',
    ],
    ['.', 'Not a file: . is a directory'],
    ['x'.repeat(256), `Path too long: ${'x'.repeat(200)}…`],
  ])('file_read fails for the path %j', async (path, message) => {
    expect(await read(path)).toBe(`FAILED ${message}`)
  })

  it('file_read fails for a missing directory, without creating it', async () => {
    await read('no/such/directory.txt')
    expect(readdirSync(directory)).toEqual([])
  })

  it('file_read fails for a link out of the directory', async () => {
    symlinkSync('/etc/hostname', join(directory, 'link'))
    expect(await read('link')).toBe(
      'FAILED Access denied: link: it is outside the directory of this tool',
    )
  })

  it.each([
    ['bytes that are no UTF-8', [0x68, 0xff, 0x69], 'is not UTF-8'],
    ['half a letter at the end', [0x68, 0xc3], 'is not UTF-8'],
    ['an overlong slash', [0xc0, 0xaf], 'is not UTF-8'],
    ['UTF-16', [0xff, 0xfe, 0x68, 0x00], 'is not UTF-8'],
    ['NUL characters', [0x68, 0x00, 0x69], 'contains NUL characters'],
  ])('file_read fails for %s', async (_title, bytes, why) => {
    put('a.bin', bytes)
    expect(await read('a.bin')).toBe(`FAILED Not a text file: a.bin ${why}`)
  })

  it('file_read fails for a path outside, without naming anything outside', async () => {
    for (const path of ['nothing.txt', '../a', 'x'.repeat(300), 'a'.repeat(20).concat('/b')]) {
      expect(await read(path)).not.toContain(directory)
    }
  })

  it('file_read fails for a directory of the tool that no longer exists', async () => {
    const tool = fileRead({ directory })
    rmSync(directory, { recursive: true })
    const { result } = await runTool(tool, { id: '1', name: 'x', arguments: '{"path":"a.txt"}' })
    expect(result.errorMessage).toBe('File not found: a.txt')
    mkdirSync(directory)
  })

  it('file_read fails for arguments of another shape', async () => {
    expect((await call(7)).result.success).toBe(false)
    expect((await call(undefined)).result.errorMessage).toContain('Invalid input')
  })
})

describe('the size limit of file_read', () => {
  it('The size limit of file_read counts bytes', async () => {
    put('a.txt', 'ää')
    expect(await read('a.txt', { maxBytes: 4 })).toBe('ää')
    expect(await read('a.txt', { maxBytes: 3 })).toBe(
      'FAILED File too large: a.txt has 4 bytes, the maximum is 3',
    )
  })

  it('The size limit of file_read is 1 MiB by default, and a larger file is not read at all', async () => {
    put('a.txt', 'x'.repeat(1024 * 1024))
    expect(await read('a.txt')).toHaveLength(1024 * 1024)
    truncateSync(join(directory, 'a.txt'), 10 * 1024 ** 3)
    expect(await read('a.txt')).toBe(
      'FAILED File too large: a.txt has 10737418240 bytes, the maximum is 1048576',
    )
  })

  it.runIf(process.platform === 'linux')(
    'The size limit of file_read applies when the size is not known in advance',
    async () => {
      const proc = { directory: '/proc/self' }
      expect(await read('status', proc)).toContain('Pid:')
      expect(await read('status', { ...proc, maxBytes: 100 })).toBe(
        'FAILED File too large: status has more than 100 bytes, the maximum is 100',
      )
    },
  )
})

describe('cancelling file_read', () => {
  it('Cancelling file_read stops reading', async () => {
    put('a.txt', 'hi')
    const stopped = contextWithSignal<FileReadInput>(AbortSignal.abort(new Error('Stop')))
    await expect(fileRead({ directory }).execute({ path: 'a.txt' }, stopped)).rejects.toThrow(
      'Stop',
    )
  })

  it('Cancelling file_read ends the call as cancelled', async () => {
    put('a.txt', 'x'.repeat(1_000_000))
    const controller = new AbortController()
    const running = runTool(
      fileRead({ directory }),
      { id: '1', name: 'file_read', arguments: '{"path":"a.txt"}' },
      { signal: controller.signal },
    )
    controller.abort()
    expect((await running).end).toBe('cancelled')
  })
})

describe('fileRead', () => {
  it('fileRead has default settings', () => {
    expect(fileRead({ directory })).toMatchObject({ name: 'file_read', kind: 'typed' })
    expect(fileRead({ directory, name: 'open', timeoutMs: 5 })).toMatchObject({
      name: 'open',
      timeoutMs: 5,
    })
    expect(fileRead({ directory })).not.toHaveProperty('directory')
  })

  it('fileRead requires a directory that exists', () => {
    put('a.txt', '')
    const missing = join(directory, 'missing')
    expect(() => fileRead({ directory: missing })).toThrow(TypeError)
    expect(() => fileRead({ directory: missing })).toThrow(
      'Cannot define tool "file_read": directory must exist: ENOENT',
    )
    expect(() => fileRead({ directory: join(directory, 'a.txt'), name: 'open' })).toThrow(
      `Cannot define tool "open": directory must be a directory, got "${directory}/a.txt"`,
    )
  })

  it('fileRead requires a positive limit', () => {
    for (const maxBytes of [0, -1, Number.NaN]) {
      expect(() => fileRead({ directory, maxBytes })).toThrow(
        new RangeError(`Cannot define tool "file_read": maxBytes must be > 0, got ${maxBytes}`),
      )
    }
  })

  it('fileRead keeps its directory when the process changes its working directory', async () => {
    put('a.txt', 'here')
    const before = process.cwd()
    try {
      process.chdir(directory)
      const tool = fileRead({ directory: '.' })
      process.chdir('/')
      const { result } = await runTool(tool, { id: '1', name: 'x', arguments: '{"path":"a.txt"}' })
      expect(result.output).toBe('here')
    } finally {
      process.chdir(before)
    }
  })
})
