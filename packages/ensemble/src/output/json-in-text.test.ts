import { performance } from 'node:perf_hooks'

import { describe, expect, it } from 'vitest'

import { findJsonInText } from './json-in-text.ts'

function valuesIn(text: string): readonly unknown[] {
  return findJsonInText(text).pieces.map(({ value }) => value)
}

function fenced(content: string, tag = 'json'): string {
  return `\`\`\`${tag}\n${content}\n\`\`\``
}

describe('[ENS-O2] JSON is looked for', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    [' \n[1,2]\n', [1, 2]],
    ['42', 42],
    ['"{\\"a\\":1}"', '{"a":1}'],
    ['null', null],
  ])('in the whole text: %j', (text, value) => {
    expect(valuesIn(text)).toEqual([value])
  })

  it('in the whole text first, so a fence inside one of its texts is none', () => {
    const value = { code: fenced('[1]'), list: ['{"a":1}'] }
    expect(valuesIn(JSON.stringify(value, null, 2))).toEqual([value])
  })

  it.each(['json', '', 'JSON', 'javascript title="x"'])('in fences of any language: %j', (tag) => {
    expect(valuesIn(`Here it is:\n${fenced('{"a":1}', tag)}\nBye`)[0]).toEqual({ a: 1 })
  })

  it('in fences from the last one, then outside of them', () => {
    const text = [fenced('{"n":1}'), 'and {"n":2} and', fenced('{"n":3}'), '{"n":4}'].join('\n')
    expect(valuesIn(text)).toEqual([3, 1, 1, 2, 3, 4].map((n) => ({ n })))
  })

  it('in scalars too where a fence marks them', () => {
    expect(valuesIn(`It is\n${fenced('42')}`)).toEqual([42])
  })

  it.each([
    ['~~~\n5\n~~~', [5]],
    ['````\n5\n````', [5]],
    ['  ```json\r\n5\r\n  ```\r\n', [5]],
    ['```\n5\n`````', [5]],
    ['````\n5\n```', []],
    ['```\n5\n~~~', []],
    ['```\n5\n```x', []],
    ['```json 5```\n5\n```', []],
    ['```\n5', []],
    ['``\n5\n``', []],
  ])('in a fence as CommonMark has it: %j', (text, values) => {
    expect(valuesIn(`x\n${text}`)).toEqual(values)
  })

  it('in a fence that is never closed by its brackets', () => {
    expect(valuesIn('```json\n{"a":[1,{"b":2}]}')).toEqual([{ a: [1, { b: 2 }] }])
    expect(valuesIn('Sure: ```json {"a":1}```')).toEqual([{ a: 1 }])
  })

  it.each([
    ['The answer is {"a":{"b":[1]}}, I think [1].', [{ a: { b: [1] } }, [1]]],
    ['In {name} [see below](x) and {a:1} we find {"a":1}', [{ a: 1 }]],
    ['f() { return {"a":1} }', [{ a: 1 }]],
    ['[[see]] {{"a":1}}', [{ a: 1 }]],
    ['{"a" or "b"} means {"a":1}', [{ a: 1 }]],
    ['say {" and "} then [true]', [[true]]],
    ['a "quoted { text" [null]', [[null]]],
    ['{"a":"} \\" ] {"}', [{ a: '} " ] {' }]],
    ['x {"a":"\\\\"} [2]', [{ a: '\\' }, [2]]],
    ['x [-1.5e+3, 0.5, false, {"a" : [ ] } ] y', [[-1500, 0.5, false, { a: [] }]]],
    ['x { "a"\n:\t1\r\n} y', [{ a: 1 }]],
    ['x {\t"a":1} y [\r\n[2]] z', [{ a: 1 }, [[2]]]],
    ['He typed [" and\nthen "so": {"a":1}', [{ a: 1 }]],
  ])('in prose, the outermost brackets that are JSON, in order: %j', (text, values) => {
    expect(valuesIn(text)).toEqual(values)
  })

  it('in prose the empty ones come last: they are boxes to tick', () => {
    expect(valuesIn('- [ ] ask {}\n- [1]')).toEqual([[1], [], {}])
  })

  it('nowhere where there is none', () => {
    for (const text of ['', '  ', 'No.', '{', '[[', '{]', '{"', '["x\ny"]', '}]', '[01x]']) {
      expect([text, findJsonInText(text).pieces]).toEqual([text, []])
    }
  })

  it('of many pieces in prose the longest twenty are taken, in their order', () => {
    const list = Array.from({ length: 50 }, (_, n) => `[${'1'.repeat(1 + ((n * 7) % 50))}]`)
    const values = valuesIn(`x ${list.join(' ')}`)
    const longest = list.filter((each) => each.length > 32)
    expect(longest).toHaveLength(20)
    expect(values).toEqual(longest.map((each) => JSON.parse(each)))
  })

  it('of many fences the last twenty are taken', () => {
    const text = Array.from({ length: 30 }, (_, n) => fenced(`${n}`)).join('\n')
    expect(valuesIn(text)).toEqual(Array.from({ length: 20 }, (_, n) => 29 - n))
  })
})

describe('[ENS-O3] broken JSON', () => {
  it.each([
    ['x [{"id":1},{"id":2,}] y', '[{"id":1},{"id":2,}]'],
    ['x [{"id":1,},{"id":2}] y', '[{"id":1,},{"id":2}]'],
    ['x {"a":[1,2,],"b":{"c":1}} y', '{"a":[1,2,],"b":{"c":1}}'],
    ['x {"a":1 "b":{"c":1}} y', '{"a":1 "b":{"c":1}}'],
    ['x {"a":\'it\', "b":{"c":1}} y', '{"a":\'it\', "b":{"c":1}}'],
    ['x {"a":"two\nlines } ]","b":{"c":1}} y', '{"a":"two\nlines } ]","b":{"c":1}}'],
    ['x {"a": x "} \\" }", "b":[1]} y', '{"a": x "} \\" }", "b":[1]}'],
    ['x {"a":01,"b":[1]} y', '{"a":01,"b":[1]}'],
    ['x [1,,[2]] y', '[1,,[2]]'],
  ])('is one piece, and no part of it is taken: %j', (text, piece) => {
    const { pieces, broken } = findJsonInText(text)
    expect(pieces).toEqual([])
    expect(broken?.length).toBe(piece.length)
    expect(broken?.reason).toMatch(/JSON/)
  })

  it.each([
    '{"items":[{"id":1},{"id":2}',
    '{"items":[{"id":1},{"id":2},',
    '[{"id":1},{"id":',
    '[{"id":1},{"text":"so far',
    '[{"id":1,},{"id":2},{"id"',
    '[[1],["x',
    '[[[[{"a":1}',
  ])('that is cut off is one piece to the end: %j', (text) => {
    for (const whole of [text, `Here:\n\`\`\`json\n${text}`]) {
      expect(findJsonInText(whole)).toMatchObject({ pieces: [], broken: { length: text.length } })
    }
  })

  it('ends where its brackets do: what comes after is looked at', () => {
    expect(valuesIn('x {"a":1,} then {"a":2}')).toEqual([{ a: 2 }])
    expect(valuesIn('["draft" mode] {"a":2}')).toEqual([{ a: 2 }])
  })

  it('of several pieces the longest is told', () => {
    expect(findJsonInText('[1,] {"a":1,"b":} [2,]').broken?.length).toBe('{"a":1,"b":}'.length)
  })

  it('beside JSON is told too, and none where there is none', () => {
    expect(findJsonInText('[1,] [2]')).toMatchObject({ pieces: [{ value: [2] }], broken: {} })
    expect(findJsonInText('x [2]')).not.toHaveProperty('broken')
    expect(findJsonInText('Hello')).not.toHaveProperty('broken')
  })
})

/** Texts that would take a search with a step back for each bracket minutes or more. */
const HOSTILE: readonly [string, string][] = [
  ['open lists', '['],
  ['open objects', '{'],
  ['open fields', '{"a":'],
  ['lists of one text', '["'],
  ['escaped quotes', '["\\"'],
  ['backslashes', '\\'],
  ['quotes', '"'],
  ['open lists far apart', '[         '],
  ['empty lists', '[]'],
  ['broken lists', '[1,]'],
  ['lines of open texts', '["\n'],
  ['marks of fences', '```\n'],
  ['longer and longer marks', '`'],
  ['closed and open', '[}{]'],
  ['digits', '[1'],
  ['tilde lines', '~~~ ~~~\n'],
]

describe('hostile text', () => {
  it.each(HOSTILE)('of %s is searched in time that grows with its length', (_, unit) => {
    const text = `x ${unit.repeat(400_000 / unit.length)}`
    const started = performance.now()
    const { pieces } = findJsonInText(text)
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(pieces.length).toBeLessThanOrEqual(40)
  })
})
