import { describe, expect, it } from 'vitest'

import { A2aError } from './errors.ts'
import { mergeObjects, readContent } from './message.ts'

import type { WirePart } from './wire.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function refusal(parts: readonly WirePart[]): A2aError {
  try {
    readContent(parts)
  } catch (error) {
    if (error instanceof A2aError) return error
    throw error
  }
  throw new Error('was not refused')
}

describe('readContent', () => {
  it('readContent joins texts with a newline, and keeps data in order', () => {
    const parts = [{ text: 'a' }, { data: { b: 1 } }, { text: 'c' }, { data: null }]
    expect(readContent(parts)).toEqual({ text: 'a\nc', data: [{ b: 1 }, null] })
  })

  it.each(['text/plain', 'text/markdown; charset=utf-8', 'application/json', 'application/a+json'])(
    'readContent reads a file of type %s as text',
    (mediaType) => {
      expect(readContent([{ raw: base64('grün'), mediaType }]).text).toBe('grün')
    },
  )

  it('readContent reads base64url', () => {
    const raw = Buffer.from('??>>').toString('base64url')
    expect(readContent([{ raw, mediaType: 'text/plain' }]).text).toBe('??>>')
  })

  it.each<WirePart>([
    { raw: base64('a') },
    { raw: base64('a'), mediaType: 'image/png' },
    { raw: base64('a'), mediaType: 'application/jsonx' },
    { url: 'https://example.com/a.txt', mediaType: 'text/plain' },
  ])('readContent rejects the file %j', (part) => {
    expect(refusal([part]).reason).toBe('CONTENT_TYPE_NOT_SUPPORTED')
  })

  it.each([
    ['no base64!', 'must be base64'],
    [Buffer.from([0xff, 0xfe]).toString('base64'), 'must be text in UTF-8'],
  ])('readContent rejects the bytes "%s"', (raw, why) => {
    const { reason, problems } = refusal([{ text: 'a' }, { raw, mediaType: 'text/plain' }])
    expect(reason).toBe('INVALID_PARAMS')
    expect(problems).toEqual([
      { path: '/message/parts/1/raw', message: expect.stringContaining(why) },
    ])
  })

  it('readContent reports every invalid part', () => {
    const parts = [{}, { text: 'a', data: 1 }, { text: 'b' }, { text: 'c', kind: 'video' }]
    expect(refusal(parts).problems).toEqual([
      { path: '/message/parts/0', message: expect.stringContaining('got none') },
      { path: '/message/parts/1', message: expect.stringContaining('got text and data') },
      { path: '/message/parts/3', message: expect.stringContaining('got "video"') },
    ])
  })
})

describe('mergeObjects', () => {
  it('mergeObjects merges objects, later ones over earlier ones, and skips other data', () => {
    const data = [{ a: 1, b: 1 }, [5], 'x', null, { b: 2 }]
    expect(mergeObjects({ text: '', data })).toEqual({ a: 1, b: 2 })
  })
})
