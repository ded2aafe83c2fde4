import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  runTool,
  toolContext,
  type RunToolOptions,
  type ToolCallOutcome,
  type ToolContext,
} from '@tutti/core'
import type { FileChange } from '@tutti/core/internal'
import { scriptedReviewer } from '@tutti/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { assertClosed } from '../../test/assert-closed.ts'
import { contextWithSignal } from '../../test/context-with-signal.ts'
import { fileWrite, type FileWriteInput, type FileWriteOptions } from './file-write.ts'

let directory: string
let changes: FileChange[]

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-write-')))
  changes = []
})

afterEach(() => {
  assertClosed(directory)
  rmSync(directory, { recursive: true, force: true })
})

function call(
  input: unknown,
  options: Partial<FileWriteOptions> = {},
  surroundings: RunToolOptions = {},
): Promise<ToolCallOutcome> {
  const tool = fileWrite({ directory, ...options })
  return runTool(
    tool,
    { id: '1', name: tool.name, arguments: JSON.stringify(input) },
    { ...surroundings, onFileChange: (_call, change) => void changes.push(change) },
  )
}

/** Returns the text of the result or of the failure. */
async function write(
  path: string,
  content: string,
  options: Partial<FileWriteOptions> = {},
): Promise<string> {
  const { result, end } = await call({ path, content }, options)
  expect(end).toBe('finished')
  return result.success ? result.output : `FAILED ${result.errorMessage}`
}

const inDirectory = (path: string): string => join(directory, path)
const contentOf = (path: string): string => readFileSync(inDirectory(path), 'utf8')
const modeOf = (path: string): number => statSync(inDirectory(path)).mode & 0o7777
const allFiles = (): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()

describe('file_write', () => {
  it('file_write creates a file and reports it', async () => {
    expect(await write('a.txt', 'one\ntwo\n')).toBe('Successfully wrote to: a.txt')
    expect(contentOf('a.txt')).toBe('one\ntwo\n')
    expect(changes).toEqual([
      { path: 'a.txt', changeType: 'CREATED', linesAdded: 2, linesRemoved: 0 },
    ])
    expect(allFiles()).toEqual(['a.txt'])
  })

  it('file_write replaces the content of a file and reports the changes', async () => {
    writeFileSync(inDirectory('a.txt'), 'one\ntwo\nthree, which is longer\n')
    expect(await write('a.txt', 'one\n2\n')).toBe('Successfully wrote to: a.txt')
    expect(contentOf('a.txt')).toBe('one\n2\n')
    expect(changes).toEqual([
      { path: 'a.txt', changeType: 'MODIFIED', linesAdded: 1, linesRemoved: 2 },
    ])
    expect(allFiles()).toEqual(['a.txt'])
  })

  it('file_write creates missing directories and reports the normalized path', async () => {
    mkdirSync(inDirectory('docs'))
    expect(await write('./docs//new/deep/a.txt', '')).toBe(
      'Successfully wrote to: ./docs//new/deep/a.txt',
    )
    expect(contentOf('docs/new/deep/a.txt')).toBe('')
    expect(changes).toMatchObject([{ path: 'docs/new/deep/a.txt', linesAdded: 0 }])
  })

  it('file_write preserves line breaks, spaces and multi-byte characters', async () => {
    const content = ' \r\n\tgröße 😀 字\u2028\0'
    await write('a.txt', content)
    expect(contentOf('a.txt')).toBe(content)
  })

  it('file_write writes many files at the same time', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `new/${index % 5}.txt`)
    const results = await Promise.all(names.map((name) => write(name, `I am ${name}`)))
    expect(new Set(results.map((text) => text.slice(0, 12)))).toEqual(new Set(['Successfully']))
    expect(allFiles()).toEqual(['new', ...[0, 1, 2, 3, 4].map((n) => `new/${n}.txt`)])
    for (const n of [0, 1, 2, 3, 4]) expect(contentOf(`new/${n}.txt`)).toBe(`I am new/${n}.txt`)
  })

  it('file_write has the same effect for a repeated call', async () => {
    await write('a.txt', 'same\n')
    await write('a.txt', 'same\n')
    expect(contentOf('a.txt')).toBe('same\n')
    expect(changes[1]).toEqual({
      path: 'a.txt',
      changeType: 'MODIFIED',
      linesAdded: 0,
      linesRemoved: 0,
    })
  })
})

describe('the line changes of file_write', () => {
  it('The line changes of file_write are counted in any encoding', async () => {
    writeFileSync(inDirectory('a.bin'), Buffer.from([0xff, 0x0a, 0xfe, 0x0a, 0x61, 0x0a]))
    await write('a.bin', 'a\n')
    expect(changes).toMatchObject([{ linesAdded: 0, linesRemoved: 2 }])
  })

  it.each([
    ['with a last line end', '\n', 5 * 1024],
    ['without one', '', 5 * 1024],
  ])(
    'The line changes of file_write count all lines of a large file as removed %s',
    async (_title, end, lines) => {
      const line = `${'x'.repeat(1023)}\n`
      writeFileSync(inDirectory('a.log'), line.repeat(lines - 1) + `last${end}`)
      await write('a.log', line)
      expect(changes).toMatchObject([{ linesAdded: 1, linesRemoved: lines }])
    },
  )
})

describe('[TOOLS-F1] atomic writes', () => {
  it('Atomic writes leave only the old content when the call is stopped at any point', async () => {
    writeFileSync(inDirectory('a.txt'), 'old')
    let wrote = 0
    let stopped = 0
    for (let stopAt = 1; wrote === 0; stopAt++) {
      const context = contextThatStopsAt(stopAt)
      const input = { path: 'a.txt', content: 'new' }
      try {
        await fileWrite({ directory }).execute(input, context)
        wrote += 1
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringContaining('Stop') })
        expect(contentOf('a.txt')).toBe('old')
        stopped += 1
      }
      expect(allFiles()).toEqual(['a.txt'])
    }
    expect(contentOf('a.txt')).toBe('new')
    expect(stopped).toBeGreaterThanOrEqual(2)
  })

  it('Atomic writes end as cancelled when the call is cancelled', async () => {
    const controller = new AbortController()
    const running = call({ path: 'a.txt', content: 'x' }, {}, { signal: controller.signal })
    controller.abort()
    expect((await running).end).toBe('cancelled')
    expect(allFiles()).toEqual([])
    expect(changes).toEqual([])
  })

  it('Atomic writes do not change the content for readers that have the file open', async () => {
    writeFileSync(inDirectory('a.txt'), 'old')
    const { ino } = statSync(inDirectory('a.txt'))
    await write('a.txt', 'new')
    expect(statSync(inDirectory('a.txt')).ino).not.toBe(ino)
  })

  it('Atomic writes leave no files behind after a failure', async () => {
    mkdirSync(inDirectory('docs'))
    expect(await write('docs', 'x')).toBe('FAILED Not a file: docs is a directory')
    expect(await write('x'.repeat(256), 'x')).toContain('FAILED Path too long: xxx')
    expect(allFiles()).toEqual(['docs'])
    expect(changes).toEqual([])
  })
})

describe('[TOOLS-F3] the mode and owner of a written file', () => {
  it('The mode and owner of a written file stay those of the old file', async () => {
    writeFileSync(inDirectory('a.sh'), '')
    chmodSync(inDirectory('a.sh'), 0o751)
    await write('a.sh', '#!/bin/sh\n')
    expect(modeOf('a.sh')).toBe(0o751)
  })

  it('The mode and owner of a written file are the defaults for a new file', async () => {
    await write('a.txt', '')
    writeFileSync(inDirectory('b.txt'), '')
    expect(modeOf('a.txt')).toBe(modeOf('b.txt'))
  })

  it.runIf(process.getuid?.() === 0)(
    'The mode and owner of a written file include another owner if the system permits',
    async () => {
      writeFileSync(inDirectory('a.txt'), '')
      chmodSync(inDirectory('a.txt'), 0o640)
      chownSync(inDirectory('a.txt'), 65_534, 65_534)
      await write('a.txt', 'new')
      expect(statSync(inDirectory('a.txt'))).toMatchObject({ uid: 65_534, gid: 65_534 })
      expect(modeOf('a.txt')).toBe(0o640)
    },
  )

  it('The mode and owner of a written file prevent replacing a file without write permission', async () => {
    writeFileSync(inDirectory('a.txt'), 'old')
    chmodSync(inDirectory('a.txt'), 0o444)
    await withoutRights(async () => {
      expect(await write('a.txt', 'new')).toBe(
        'FAILED Access denied: a.txt: permission to write it is missing',
      )
    })
    expect(contentOf('a.txt')).toBe('old')
    expect(allFiles()).toEqual(['a.txt'])
  })

  it('The mode and owner of a written file prevent creating a file in a directory without write permission', async () => {
    mkdirSync(inDirectory('docs'))
    chmodSync(inDirectory('docs'), 0o555)
    await withoutRights(async () => {
      expect(await write('docs/a.txt', 'new')).toBe(
        'FAILED Access denied: docs/a.txt: permission to write it is missing',
      )
    })
    expect(allFiles()).toEqual(['docs'])
  })
})

describe('file_write fails for', () => {
  it.each([
    ['', 'Path must not be blank'],
    ['../a.txt', 'Access denied: ../a.txt: a path must not contain ".."'],
    ['docs/../../a.txt', 'Access denied: docs/../../a.txt: a path must not contain ".."'],
    [
      '/tmp/a.txt',
      'Access denied: /tmp/a.txt: a path must be relative to the directory of this tool',
    ],
    ['docs/', 'Not a file: docs/ is a directory'],
  ])('file_write fails for the path %j', async (path, message) => {
    expect(await write(path, 'x')).toBe(`FAILED ${message}`)
    expect(allFiles()).toEqual([])
  })

  it('file_write fails for content above the limit in bytes, without creating a directory', async () => {
    expect(await write('a.txt', 'ää', { maxBytes: 4 })).toContain('Successfully')
    expect(await write('new/b.txt', 'äää', { maxBytes: 4 })).toBe(
      'FAILED Content too large: 6 bytes for new/b.txt, the maximum is 4',
    )
    expect(await write('c.txt', 'x'.repeat(1024 * 1024 + 1))).toBe(
      'FAILED Content too large: 1048577 bytes for c.txt, the maximum is 1048576',
    )
    expect(allFiles()).toEqual(['a.txt'])
  })

  it('file_write fails for content that is not well-formed Unicode', async () => {
    expect(await write('a.txt', 'half \ud83d')).toBe(
      'FAILED Cannot write a.txt: its content contains a lone surrogate',
    )
  })

  it('file_write fails for a directory of the tool that no longer exists', async () => {
    const tool = fileWrite({ directory })
    rmSync(directory, { recursive: true })
    const input = { path: 'a/b.txt', content: '' }
    expect(await tool.execute(input, toolContext())).toMatchObject({
      errorMessage: 'Cannot write a/b.txt: its directory no longer exists',
    })
    expect(existsSync(directory)).toBe(false)
  })

  it('file_write fails for a link out of the directory, without creating anything there', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-outside-')))
    symlinkSync(outside, inDirectory('link'))
    symlinkSync(join(outside, 'new.txt'), inDirectory('file'))
    for (const path of ['link/a.txt', 'link/new/a.txt', 'file']) {
      expect(await write(path, 'x')).toBe(
        `FAILED Access denied: ${path}: it is outside the directory of this tool`,
      )
    }
    expect(readdirSync(outside)).toEqual([])
    rmSync(outside, { recursive: true })
  })
})

describe('the approval of file_write', () => {
  const input = { path: 'a.txt', content: 'x'.repeat(199) }

  it('The approval of file_write is not requested unless it is required', async () => {
    const reviewer = scriptedReviewer(['REJECT'])
    await call(input, {}, { reviewer })
    expect(reviewer.requests).toEqual([])
    expect(allFiles()).toEqual(['a.txt'])
  })

  it.each([
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), `${'x'.repeat(200)}…`],
    [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}…`],
  ])(
    'The approval of file_write shows the path and the first 200 characters: %s',
    async (content, shown) => {
      const reviewer = scriptedReviewer(['CONTINUE'])
      await call({ path: 'a.txt', content }, { requireApproval: true }, { reviewer })
      expect(reviewer.requests[0]?.description).toBe(`Write file: a.txt\nContent: ${shown}`)
      expect(contentOf('a.txt')).toBe(content)
    },
  )

  it('The approval of file_write cannot be deceived by a path that looks like content', async () => {
    const reviewer = scriptedReviewer(['CONTINUE'])
    const path = 'a.txt\nContent: harmless'
    const { result } = await call({ path, content: 'x' }, { requireApproval: true }, { reviewer })
    expect(reviewer.requests[0]?.description).toBe(
      'Write file: a.txt\\u000aContent: harmless\nContent: x',
    )
    expect(result.success).toBe(false)
  })

  it('The approval of file_write can edit the input, which is then checked like any input', async () => {
    const edit = (edited: unknown): Promise<ToolCallOutcome> =>
      call(
        input,
        { requireApproval: true },
        { reviewer: scriptedReviewer([{ action: 'EDIT', input: edited }]) },
      )
    expect((await edit({ path: 'b.txt', content: 'edited' })).result.output).toBe(
      'Successfully wrote to: b.txt',
    )
    expect(contentOf('b.txt')).toBe('edited')
    expect((await edit({ path: '../b.txt', content: 'edited' })).result.success).toBe(false)
    expect((await edit({ path: 'b.txt' })).result.success).toBe(false)
    expect(allFiles()).toEqual(['b.txt'])
  })

  it('The approval of file_write writes nothing after a rejection, and is a configuration error without a reviewer', async () => {
    const reviewer = scriptedReviewer([{ action: 'REJECT', feedback: 'Not there' }])
    const refused = await call(input, { requireApproval: true }, { reviewer })
    expect(refused.result.errorMessage).toContain('Not there')
    expect((await call(input, { requireApproval: true })).end).toBe('misconfigured')
    expect(allFiles()).toEqual([])
  })

  it('The approval of file_write can have another description and time limit', async () => {
    const reviewer = scriptedReviewer(['CONTINUE'])
    const requireApproval = {
      timeoutMs: 5_000,
      describe: ({ path }: FileWriteInput) => `Write ${path}?`,
    }
    await call(input, { requireApproval }, { reviewer })
    await call(input, { requireApproval: { onTimeout: 'FAIL' } }, { reviewer })
    expect(reviewer.requests).toMatchObject([
      { description: 'Write a.txt?', timeoutMs: 5_000 },
      { description: expect.stringContaining('Write file: a.txt\n'), onTimeout: 'FAIL' },
    ])
  })
})

describe('fileWrite', () => {
  it('fileWrite has default settings', () => {
    expect(fileWrite({ directory })).toMatchObject({
      name: 'file_write',
      kind: 'typed',
      idempotent: true,
      requireApproval: false,
    })
    expect(fileWrite({ directory, name: 'save', requireApproval: true })).toMatchObject({
      name: 'save',
      requireApproval: true,
    })
  })

  it('fileWrite requires a directory that exists', () => {
    expect(() => fileWrite({ directory: inDirectory('missing') })).toThrow(
      'Cannot define tool "file_write": directory must exist: ENOENT',
    )
    expect(() => fileWrite({ directory, maxBytes: 0 })).toThrow(RangeError)
  })
})

/** Creates a context whose signal has aborted when the tool reads it for the `stopAt`th time. */
function contextThatStopsAt(stopAt: number): ToolContext<FileWriteInput> {
  const { signal } = new AbortController()
  let looks = 0
  signal.throwIfAborted = () => {
    looks += 1
    if (looks >= stopAt) throw new Error('Stop')
  }
  return contextWithSignal(signal)
}

/** Runs `work` as an unprivileged user if the tests run as root. */
async function withoutRights(act: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) {
    await act()
    return
  }
  chownSync(directory, 65_534, 65_534)
  for (const name of allFiles()) chownSync(inDirectory(name), 65_534, 65_534)
  process.seteuid?.(65_534)
  try {
    await act()
  } finally {
    process.seteuid?.(0)
  }
}
