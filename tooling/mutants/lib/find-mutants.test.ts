import { describe, expect, it } from 'vitest'

import { addProbes, applyMutant, findMutants, sampleMutants } from './find-mutants.ts'

function mutate(text: string): string[] {
  return findMutants('file.ts', text).map((mutant) => applyMutant(text, mutant))
}

describe('findMutants', () => {
  it.each([
    ['if (a) b = c', ['if (true) b = c', 'if (false) b = c']],
    ['x = a < b', ['x = a <= b']],
    ['x = a === b', ['x = a !== b']],
    ['x = a - 1', ['x = a + 1', 'x = a - 2']],
    ['x = a && !b', ['x = a || !b', 'x = a && b']],
    ['x = a ?? b', ['x = a']],
    ['x = a.filter(f).length', ['x = a.length']],
    ['x = a.some(f)', ['x = a.every(f)']],
    ['await save(a)', ['']],
    ['const f = () => a', ['const f = () => undefined']],
    ['function f() { return a }', ['function f() { return undefined }']],
    ["throw new Error('a')", [';']],
    ["x = { a: 'b', c: true }", ["x = { a: '', c: true }", "x = { a: 'b', c: false }"]],
  ])('%s has these mutants', (text, expected) => {
    expect(mutate(text)).toEqual(expected)
  })

  it.each([
    ['types', "interface A { b: 'c' }"],
    ['imports', "import { a } from 'b'"],
    ['results that are empty already', 'function f() { return undefined }'],
    ['messages', "x = toolError('INVALID', 1)"],
    ['log lines', "log.warn('lost')"],
    ['texts with spaces', "x = 'not found'"],
    ['objects that list keys', 'const KEYS = { a: true, b: true }'],
  ])('findMutants leaves %s alone', (_what, text) => {
    expect(mutate(text)).toEqual([])
  })
})

describe('sampleMutants', () => {
  const text = 'a = b < 1\nc = d < 2\ne = f < 3'
  const sample = (content: string, size: number): string[] =>
    sampleMutants(content, findMutants('file.ts', content), { size, seed: '1' }).map(
      (mutant) => `${content.split('\n')[mutant.line - 1]} ${mutant.operator}`,
    )

  it('sampleMutants prefers mutants on different lines', () => {
    expect(new Set(sample(text, 3).map((name) => name[0])).size).toBe(3)
  })

  it('sampleMutants chooses the same mutants after other lines were added', () => {
    expect(sample(`// first\n\n${text}`, 3)).toEqual(sample(text, 3))
  })
})

it('addProbes calls the recorder wherever a mutant can run', () => {
  const text = 'const f = (a) => a + 1; function g(b) { return b - 1 }'
  expect(addProbes(text, findMutants('file.ts', text), 'reach')).toBe(
    'const f = (a) => (reach(17), a + 1); function g(b) {reach(39); return b - 1 }',
  )
})
