import { describe, expect, test } from 'vitest'

import { SseData } from './sse-data.ts'

/** Returns the data of each event in `lines`. */
function readData(lines: readonly string[]): readonly string[] {
  const events = new SseData(100)
  return [...lines.map((line) => events.add(line)), events.end()].filter(
    (data) => data !== undefined,
  )
}

describe('SseData', () => {
  test.each([
    [['data: {"a":1}', ''], ['{"a":1}']],
    [['data:x', ''], ['x']],
    [['data:  x', ''], [' x']],
    [
      ['data: a', 'data: b', '', 'data: c'],
      ['a\nb', 'c'],
    ],
    [['data: a', 'data', 'data: b', ''], ['a\n\nb']],
    [[': ping', ''], []],
    [['event: message', 'id: 7', 'retry: 10', 'data: a', ''], ['a']],
    [['event: ping', ''], []],
    [['data:', ''], []],
    [['database: x', 'dat: y', ''], []],
  ])('SseData parses %j as %j', (lines, expected) => {
    expect(readData(lines)).toEqual(expected)
  })

  test('SseData limits the data of each event separately', () => {
    const events = new SseData(20)
    for (let i = 0; i < 10; i += 1) {
      expect(events.add('data: 12345678')).toBeUndefined()
      expect(events.add('')).toBe('12345678')
    }
    events.add('data: 12345678')
    expect(() => events.add('data: 12345678')).toThrow(
      expect.objectContaining({
        failureType: 'invalid_response',
        message: 'The agent sent an event of more than 20 characters',
      }),
    )
  })
})
