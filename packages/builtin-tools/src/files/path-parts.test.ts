import { describe, expect, it } from 'vitest'

import { splitPath } from './path-parts.ts'

describe('splitPath', () => {
  it.each([
    ['a.txt', ['a.txt']],
    ['./a.txt', ['a.txt']],
    ['docs/a.txt', ['docs', 'a.txt']],
    ['docs//./a.txt', ['docs', 'a.txt']],
    ['.hidden', ['.hidden']],
    ['...', ['...']],
    ['a..b/..c', ['a..b', '..c']],
    ['~/a', ['~', 'a']],
    ['a b/ü😀', ['a b', 'ü😀']],
    [' a ', [' a ']],
    ['ab:c', ['ab:c']],
    ['x'.repeat(1_000), ['x'.repeat(1_000)]],
  ])('splitPath splits %s', (path, names) => {
    expect(splitPath(path)).toEqual(names)
  })

  it('splitPath does not normalize names: composed and decomposed letters differ', () => {
    expect(splitPath('\u00e9')).not.toEqual(splitPath('e\u0301'))
  })

  it.each([
    ['', 'Path must not be blank'],
    ['  ', 'Path must not be blank'],
    ['..', 'Access denied: ..: a path must not contain ".."'],
    ['../a', 'Access denied: ../a: a path must not contain ".."'],
    ['a/../b', 'Access denied: a/../b: a path must not contain ".."'],
    ['a/..', 'Access denied: a/..: a path must not contain ".."'],
    [
      '/etc/passwd',
      'Access denied: /etc/passwd: a path must be relative to the directory of this tool',
    ],
    ['//a', 'Access denied: //a: a path must be relative to the directory of this tool'],
    ['C:/a', 'Access denied: C:/a: a path must be relative to the directory of this tool'],
    ['c:a', 'Access denied: c:a: a path must be relative to the directory of this tool'],
    ['a\\b', 'Access denied: a\\b: separate names with "/"; "\\" is not allowed'],
    ['..\\a', 'Access denied: ..\\a: separate names with "/"; "\\" is not allowed'],
    ['a\0b', 'Access denied: a\\u0000b: a path must not contain control characters'],
    ['a\nb', 'Access denied: a\\u000ab: a path must not contain control characters'],
    ['a\ud800', 'Access denied: a\ufffd: a path must be well-formed Unicode'],
    ['.', 'Not a file: . is a directory'],
    ['./', 'Not a file: ./ is a directory'],
    ['docs/', 'Not a file: docs/ is a directory'],
    ['docs/.', 'Not a file: docs/. is a directory'],
    ['x'.repeat(1_001), 'Path too long: 1001 characters, maximum 1000'],
  ])('splitPath refuses %j', (path, message) => {
    expect(() => splitPath(path)).toThrow(expect.objectContaining({ name: 'FileError', message }))
  })
})
