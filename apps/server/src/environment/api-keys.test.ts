import { describe, expect, it } from 'vitest'

import { readApiKeys } from './api-keys.ts'

const KEY = 'a-key-of-some-length'
const HASH = 'ab'.repeat(32)

describe('readApiKeys', () => {
  it.each([
    [KEY, { name: 'key-1', scopes: ['admin'], key: KEY }],
    [`ci:${KEY}`, { name: 'ci', scopes: ['admin'], key: KEY }],
    [`ci:runs:read:${KEY}`, { name: 'ci', scopes: ['runs:read'], key: KEY }],
    [
      `ci:tools:invoke+runs:read+runs:read:${KEY}`,
      { name: 'ci', scopes: ['runs:read', 'tools:invoke'], key: KEY },
    ],
    [
      `lead:runs:read+reviews:decide+role=cfo+role=legal:${KEY}`,
      {
        name: 'lead',
        scopes: ['runs:read', 'reviews:decide'],
        roles: ['cfo', 'legal'],
        key: KEY,
      },
    ],
    [`sha256:${HASH}`, { name: 'key-1', scopes: ['admin'], sha256: HASH }],
    [`ci:sha256:${HASH}`, { name: 'ci', scopes: ['admin'], sha256: HASH }],
    [
      `ci:runs:read+runs:write:sha256:${HASH}`,
      { name: 'ci', scopes: ['runs:read', 'runs:write'], sha256: HASH },
    ],
  ])('readApiKeys parses %s', (list, expected) => {
    const problems: string[] = []
    expect(readApiKeys(list, problems)).toEqual([
      { key: undefined, sha256: undefined, ...expected },
    ])
    expect(problems).toEqual([])
  })

  it('readApiKeys returns no keys for an empty list, and skips empty entries', () => {
    const problems: string[] = []
    expect(['', ' , ,'].map((list) => readApiKeys(list, problems))).toEqual([[], []])
    expect(readApiKeys(` ${KEY} ,, b:${KEY}x `, problems)).toHaveLength(2)
    expect(problems).toEqual([])
  })

  it('readApiKeys reports a key with roles and no scopes, and a role that is not a name', () => {
    const problems: string[] = []
    readApiKeys(`a:role=cfo:${KEY},b:runs:read+role=:${KEY}`, problems)
    expect(problems).toEqual([
      'Key "a" of TUTTI_API_KEYS must have scopes besides its roles',
      'Key "b" of TUTTI_API_KEYS must have roles of letters, digits, ".", "_" and "-"',
    ])
  })

  it('readApiKeys reports every problem, without the keys', () => {
    const problems: string[] = []
    readApiKeys(
      `ci:tooshort,two words:${KEY},x:root:${KEY},x:${KEY},y:sha256:abc,z::${KEY},secret part:with:${KEY}`,
      problems,
    )
    expect(problems).toEqual([
      'Key "ci" of TUTTI_API_KEYS must have at least 16 characters and no spaces',
      'Key 2 of TUTTI_API_KEYS must have a name of letters, digits, ".", "_" and "-"',
      expect.stringContaining('Key "x" of TUTTI_API_KEYS must have scopes of runs:read, '),
      'Key "y" of TUTTI_API_KEYS must have 64 hexadecimal digits after "sha256:"',
      expect.stringContaining('Key "z" of TUTTI_API_KEYS must have scopes of'),
      'Key 7 of TUTTI_API_KEYS must have a name of letters, digits, ".", "_" and "-"',
      expect.stringContaining('Key 7 of TUTTI_API_KEYS must have scopes of'),
      'TUTTI_API_KEYS has two keys with the name "x"',
    ])
    expect(problems.join()).not.toMatch(/a-key|tooshort|two words|secret part/)
  })
})
