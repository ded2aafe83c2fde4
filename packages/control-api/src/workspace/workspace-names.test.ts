import { describe, expect, it } from 'vitest'

import { isReachable, parseWorkspacePath } from './workspace-names.ts'

describe('parseWorkspacePath', () => {
  it.each([
    ['', []],
    ['.', []],
    ['./', []],
    ['docs', ['docs']],
    ['docs/', ['docs']],
    ['./docs//deep/./a.txt', ['docs', 'deep', 'a.txt']],
    ['a b/#?&%20/ü', ['a b', '#?&%20', 'ü']],
    ['a..b/c..', ['a..b', 'c..']],
    ['ab:c', ['ab:c']],
  ])('parseWorkspacePath parses %j', (path, names) => {
    expect(parseWorkspacePath(path)).toEqual(names)
  })

  it.each([
    '..',
    '../a',
    'docs/..',
    'docs/../a',
    'a/../../b',
    '/',
    '/etc/passwd',
    '//a',
    'C:/a',
    'c:',
  ])('parseWorkspacePath refuses a path that could lead out of the workspace: %j', (path) => {
    expect(() => parseWorkspacePath(path)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }))
  })

  it.each([
    ['a\0b', 'not contain control characters'],
    ['a\nb', 'not contain control characters'],
    ['\x7f', 'not contain control characters'],
    ['..\\a', 'not contain "\\"'],
    ['docs\\a', 'not contain "\\"'],
    ['\ud800', 'well-formed'],
    ['x'.repeat(1_001), 'at most 1000 characters, got 1001'],
  ])('parseWorkspacePath refuses a malformed path: %j', (path, why) => {
    expect(() => parseWorkspacePath(path)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        details: {
          problems: [
            expect.objectContaining({ path: '/path', message: expect.stringContaining(why) }),
          ],
        },
      }),
    )
  })

  it.each(['.env', '.git/config', 'docs/.secret', '...', './.env'])(
    'parseWorkspacePath treats a hidden path as missing: %j',
    (path) => {
      expect(() => parseWorkspacePath(path)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
    },
  )
})

describe('isReachable', () => {
  it('isReachable returns true for names that requests can ask for', () => {
    expect(['a', 'a b', 'ü', 'a.b'].every(isReachable)).toBe(true)
    expect(['.a', 'a\\b', 'a\nb', 'x'.repeat(2_000)].some(isReachable)).toBe(false)
  })
})
