/** SPEC.md, the heads of the sources and the names of the tests say the same rules. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

function filesOf(folder: string): readonly string[] {
  return readdirSync(join(PACKAGE, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(PACKAGE, folder, path))
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}

/** Rule id → text, as SPEC.md has them. */
const rules = new Map(
  [...read(join(PACKAGE, 'SPEC.md')).matchAll(/^- \*\*([A-Z]\d+)\*\* (.+)$/gm)].map(
    ([, id = '', text = '']) => [id, text],
  ),
)

/** The ids that names of tests and of groups of tests cite, such as `it('[E2] a task …'`. */
const cited = new Set(
  [...filesOf('src'), ...filesOf('test')]
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) => namesIn(read(path)))
    .flatMap((name) => [...name.matchAll(/\[([A-Z]\d+)\]/g)].map(([, id = '']) => id)),
)

/** The quoted texts after `it(`, `describe(`, `….each(…)(` and `rule:`. */
function namesIn(source: string): readonly string[] {
  return [...source.matchAll(/(?:\b(?:it|describe)\(|\)\(|\brule:)\s*(['"`])(.*?)\1/g)].map(
    ([, , name = '']) => name,
  )
}

/** The rules in the head of a source file: ` * E1 Missing inputs …`, also over several lines. */
function headRules(path: string): readonly (readonly [id: string, text: string])[] {
  const head = /^\/\*\*\n(.*?)\n \*\//s.exec(read(path))?.[1] ?? ''
  const text = head.replaceAll(/^ \* ?/gm, '')
  return [...text.matchAll(/^([A-Z]\d+) (.+(?:\n {3}.+)*)/gm)].map(([, id = '', rule = '']) => [
    id,
    rule.replaceAll(/\n\s+/g, ' '),
  ])
}

describe('SPEC.md', () => {
  it('has rules, each id once, counting up in each part', () => {
    const ids = [...read(join(PACKAGE, 'SPEC.md')).matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map(
      ([, id = '']) => id,
    )
    expect(ids.length).toBe(rules.size)
    const letters = [...new Set(ids.map((id) => id.charAt(0)))]
    const parts = [...read(join(PACKAGE, 'SPEC.md')).matchAll(/^## ([A-Z]): /gm)]
    expect(letters).toEqual(parts.map(([, letter]) => letter))
    for (const letter of letters) {
      const numbers = ids.filter((id) => id.startsWith(letter)).map((id) => Number(id.slice(1)))
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    }
  })

  it('every rule is cited by a test', () => {
    expect([...rules.keys()].filter((id) => !cited.has(id))).toEqual([])
  })

  it('every rule that a test cites is in it', () => {
    expect([...cited].filter((id) => !rules.has(id))).toEqual([])
  })

  it('has the rules that the heads of the sources state, word for word', () => {
    const stated = filesOf('src').flatMap(headRules)
    expect(stated.map(([id]) => id).join(' ')).toContain('L1 L5 L16 L17 L2 L3 L13 L14 L20 L21')
    for (const [id, text] of stated) expect([id, rules.get(id)]).toEqual([id, text])
  })
})
