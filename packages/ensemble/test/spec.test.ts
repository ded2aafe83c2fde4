/** Checks that SPEC.md, the headers of the sources and the test titles agree on the rules. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

function listFiles(folder: string): readonly string[] {
  return readdirSync(join(PACKAGE, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(PACKAGE, folder, path))
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}

/** Rule id → text in SPEC.md. */
const rules = new Map(
  [...read(join(PACKAGE, 'SPEC.md')).matchAll(/^- \*\*(ENS-[A-Z]\d+)\*\* (.+)$/gm)].map(
    ([, id = '', text = '']) => [id, text],
  ),
)

/** Ids that titles of tests and of groups cite, such as `it('[ENS-E2] a task …'`. */
const cited = new Set(
  [...listFiles('src'), ...listFiles('test')]
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) => findTitles(read(path)))
    .flatMap((title) => [...title.matchAll(/\[([A-Z-]+\d+)\]/g)].map(([, id = '']) => id)),
)

/** Returns the quoted texts after `it(`, `describe(`, `….each(…)(` and `rule:`. */
function findTitles(source: string): readonly string[] {
  return [...source.matchAll(/(?:\b(?:it|describe)\(|\)\(|\brule:)\s*(['"`])(.*?)\1/g)].map(
    ([, , title = '']) => title,
  )
}

/** Returns the rules in the header of a source file: ` * ENS-E1 All missing inputs …`, also over several lines. */
function readHeaderRules(path: string): readonly (readonly [id: string, text: string])[] {
  const header = /^\/\*\*\n(.*?)\n \*\//s.exec(read(path))?.[1] ?? ''
  const text = header.replaceAll(/^ \* ?/gm, '')
  return [...text.matchAll(/^(ENS-[A-Z]\d+) (.+(?:\n {3}.+)*)/gm)].map(([, id = '', rule = '']) => [
    id,
    rule.replaceAll(/\n\s+/g, ' '),
  ])
}

describe('SPEC.md', () => {
  it('SPEC.md has every id once, numbered from 1 in each part', () => {
    const ids = [...read(join(PACKAGE, 'SPEC.md')).matchAll(/^- \*\*([A-Z-]*\d+)\*\*/gm)].map(
      ([, id = '']) => id,
    )
    expect(ids).toEqual([...rules.keys()])
    const parts = [...read(join(PACKAGE, 'SPEC.md')).matchAll(/^## ([A-Z]): /gm)].map(
      ([, letter = '']) => `ENS-${letter}`,
    )
    expect([...new Set(ids.map((id) => id.replace(/\d+$/, '')))]).toEqual(parts)
    for (const part of parts) {
      const numbers = ids.filter((id) => id.startsWith(part)).map((id) => Number(id.slice(5)))
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    }
  })

  it('SPEC.md has no rule that no test cites', () => {
    expect([...rules.keys()].filter((id) => !cited.has(id))).toEqual([])
  })

  it('SPEC.md has every rule that a test cites', () => {
    expect([...cited].filter((id) => !rules.has(id))).toEqual([])
  })

  it('SPEC.md has the rules in the headers of the sources, word for word', () => {
    const stated = listFiles('src').flatMap(readHeaderRules)
    expect(stated.map(([id]) => id)).toEqual(
      expect.arrayContaining(['ENS-L1', 'ENS-L2', 'ENS-L21', 'ENS-E22']),
    )
    for (const [id, text] of stated) expect([id, rules.get(id)]).toEqual([id, text])
  })
})
