import { describe, expect, it } from 'vitest'

import { cookiePairs, headerText, pathText, queryFields } from './parameter-style.ts'

/** Values of the table in the specification. */
const text = 'blue'
const list = ['blue', 'black', 'brown']
const object = { R: 100, G: 200, B: 150 }

function style(name: string, explode: boolean) {
  return { name: 'color', style: name, explode, allowReserved: false }
}

function query(value: unknown, name: string, explode: boolean): string {
  return queryFields(value, style(name, explode)).join('&')
}

describe('a value in a path', () => {
  it.each([
    ['simple', false, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
    ['simple', true, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
    ['label', false, '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
    ['label', true, '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
    ['matrix', false, ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
    ['matrix', true, ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ])(
    'A value in a path is serialized in the style %s, exploded: %s',
    (name, explode, one, many, fields) => {
      const written = [text, list, object].map((value) => pathText(value, style(name, explode)))
      expect(written).toEqual([one, many, fields])
    },
  )

  it('A value in a path is encoded except for its separators', () => {
    expect(pathText(['a/b', 'c,d'], style('simple', false))).toBe('a%2Fb,c%2Cd')
    expect(pathText({ 'k/': '?' }, style('matrix', true))).toBe(';k%2F=%3F')
  })
})

describe('a value in a query', () => {
  it.each([
    ['form', true, 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
    ['form', false, 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
    [
      'spaceDelimited',
      false,
      'color=blue',
      'color=blue%20black%20brown',
      'color=R%20100%20G%20200%20B%20150',
    ],
    [
      'pipeDelimited',
      false,
      'color=blue',
      'color=blue%7Cblack%7Cbrown',
      'color=R%7C100%7CG%7C200%7CB%7C150',
    ],
    [
      'deepObject',
      true,
      'color=blue',
      'color[0]=blue&color[1]=black&color[2]=brown',
      'color[R]=100&color[G]=200&color[B]=150',
    ],
  ])(
    'A value in a query is serialized in the style %s, exploded: %s',
    (name, explode, one, many, fields) => {
      const written = [text, list, object].map((value) => query(value, name, explode))
      expect(written).toEqual([one, many, fields])
    },
  )

  it('A value in a query is encoded, except for reserved characters where that is allowed', () => {
    expect(query('a&b=c/d é', 'form', true)).toBe('color=a%26b%3Dc%2Fd%20%C3%A9')
    const allowed = { ...style('form', true), allowReserved: true }
    expect(queryFields('a&b=c+d#e/f?g:h@i', allowed)).toEqual(['color=a%26b%3Dc%2Bd%23e/f?g:h@i'])
  })

  it('A value in a query can be nested', () => {
    expect(query({ a: { b: [{ c: 1 }] }, d: null }, 'deepObject', true)).toBe('color[a][b][0][c]=1')
  })

  it('A value in a query is omitted when it is null, as are its null fields', () => {
    expect(query(null, 'form', true)).toBe('')
    expect(query({ a: null, b: false }, 'form', true)).toBe('b=false')
  })
})

describe('a value in a header or cookie', () => {
  it('A value in a header or cookie is sent unchanged or as a list', () => {
    expect(headerText('a b/c', style('simple', false))).toBe('a b/c')
    expect(headerText(list, style('simple', false))).toBe('blue,black,brown')
    expect(headerText(object, style('simple', true))).toBe('R=100,G=200,B=150')
  })

  it('A value in a header or cookie is a pair of a cookie', () => {
    expect(cookiePairs('a;b', style('form', true))).toEqual(['color=a%3Bb'])
    expect(cookiePairs(list, style('form', false))).toEqual(['color=blue,black,brown'])
  })
})
