import { describe, expect, it } from 'vitest'

import { processorTimer } from '../../../../tooling/test-kit/processor-time.ts'

import { findJsonInText } from './json-in-text.ts'

function valuesIn(text: string): readonly unknown[] {
  return findJsonInText(text).pieces.map(({ value }) => value)
}

function fenced(content: string, tag = 'json'): string {
  return `\`\`\`${tag}\n${content}\n\`\`\``
}

describe('[ENS-O2] findJsonInText', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    [' \n[1,2]\n', [1, 2]],
    ['42', 42],
    ['"{\\"a\\":1}"', '{"a":1}'],
    ['null', null],
  ])('findJsonInText finds JSON that is the whole text: %j', (text, value) => {
    expect(valuesIn(text)).toEqual([value])
  })

  it('findJsonInText tries the whole text first, so that a fence inside a string is not searched', () => {
    const value = { code: fenced('[1]'), list: ['{"a":1}'] }
    expect(valuesIn(JSON.stringify(value, null, 2))).toEqual([value])
  })

  it.each(['json', '', 'JSON', 'javascript title="x"'])(
    'findJsonInText finds JSON in fences of any language: %j',
    (tag) => {
      expect(valuesIn(`Here it is:\n${fenced('{"a":1}', tag)}\nBye`)[0]).toEqual({ a: 1 })
    },
  )

  it('findJsonInText searches fences from the last one, then the prose', () => {
    const text = [fenced('{"n":1}'), 'and {"n":2} and', fenced('{"n":3}'), '{"n":4}'].join('\n')
    expect(valuesIn(text)).toEqual([3, 1, 1, 2, 3, 4].map((n) => ({ n })))
  })

  it('findJsonInText finds scalars in fences', () => {
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
  ])('findJsonInText reads fences as CommonMark defines them: %j', (text, values) => {
    expect(valuesIn(`x\n${text}`)).toEqual(values)
  })

  it('findJsonInText finds JSON by its brackets in a fence that is not closed', () => {
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
  ])(
    'findJsonInText finds the outermost brackets that are JSON in prose, in order: %j',
    (text, values) => {
      expect(valuesIn(text)).toEqual(values)
    },
  )

  it('findJsonInText returns empty lists and objects in prose last, because they may be checkboxes', () => {
    expect(valuesIn('- [ ] ask {}\n- [1]')).toEqual([[1], [], {}])
  })

  it('findJsonInText returns no pieces if there is no JSON', () => {
    for (const text of ['', '  ', 'No.', '{', '[[', '{]', '{"', '["x\ny"]', '}]', '[01x]']) {
      expect([text, findJsonInText(text).pieces]).toEqual([text, []])
    }
  })

  it('findJsonInText returns the longest twenty of many pieces in prose, in their order', () => {
    const list = Array.from({ length: 50 }, (_, n) => `[${'1'.repeat(1 + ((n * 7) % 50))}]`)
    const values = valuesIn(`x ${list.join(' ')}`)
    const longest = list.filter((each) => each.length > 32)
    expect(longest).toHaveLength(20)
    expect(values).toEqual(longest.map((each) => [BigInt(each.slice(1, -1))]))
  })

  it('findJsonInText returns the last twenty of many fences', () => {
    const text = Array.from({ length: 30 }, (_, n) => fenced(`${n}`)).join('\n')
    expect(valuesIn(text)).toEqual(Array.from({ length: 20 }, (_, n) => 29 - n))
  })
})

describe('[ENS-O3] malformed JSON', () => {
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
  ])('Malformed JSON is one piece of which no part is used: %j', (text, piece) => {
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
  ])('Malformed JSON is one piece up to the end if it is truncated: %j', (text) => {
    for (const whole of [text, `Here:\n\`\`\`json\n${text}`]) {
      expect(findJsonInText(whole)).toMatchObject({ pieces: [], broken: { length: text.length } })
    }
  })

  it('Malformed JSON ends at its closing bracket, and the text after it is searched', () => {
    expect(valuesIn('x {"a":1,} then {"a":2}')).toEqual([{ a: 2 }])
    expect(valuesIn('["draft" mode] {"a":2}')).toEqual([{ a: 2 }])
  })

  it('Malformed JSON is reported as the longest of several pieces', () => {
    expect(findJsonInText('[1,] {"a":1,"b":} [2,]').broken?.length).toBe('{"a":1,"b":}'.length)
  })

  it('Malformed JSON is also reported next to valid JSON, and absent if there is none', () => {
    expect(findJsonInText('[1,] [2]')).toMatchObject({ pieces: [{ value: [2] }], broken: {} })
    expect(findJsonInText('x [2]')).not.toHaveProperty('broken')
    expect(findJsonInText('Hello')).not.toHaveProperty('broken')
  })
})

/** Texts for which a search with backtracking for each bracket would take minutes or more. */
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
  it.each(HOSTILE)(
    'Hostile text of %s is searched in time proportional to its length',
    (_, unit) => {
      const text = `x ${unit.repeat(400_000 / unit.length)}`
      const processorMs = processorTimer()
      const { pieces } = findJsonInText(text)
      expect(processorMs()).toBeLessThan(2_000)
      expect(pieces.length).toBeLessThanOrEqual(40)
    },
  )
})
