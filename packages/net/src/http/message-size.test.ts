import { describe, expect, it } from 'vitest'

import { MessageSize } from './message-size.ts'

function sizes(isStream: boolean, ...pieces: readonly string[]): readonly number[] {
  const size = new MessageSize(isStream)
  return pieces.map((piece) => size.add(Buffer.from(piece)))
}

describe('MessageSize', () => {
  it('MessageSize counts a whole body that is not a stream', () => {
    expect(sizes(false, 'ab\n\n', 'cd')).toEqual([4, 6])
  })

  it.each(['\n', '\r\n'])('MessageSize restarts after a blank line of a stream (%j)', (end) => {
    expect(sizes(true, `data: a${end}${end}`, 'data: b')[1]).toBe(7)
  })

  it('MessageSize continues over lines and pieces of a stream', () => {
    expect(sizes(true, 'data: a\n', 'data', ': b\n', '\n', 'x')).toEqual([7, 11, 14, 14, 1])
  })

  it('MessageSize returns the size of the longest message in a piece of a stream', () => {
    expect(sizes(true, 'aaaaa\n\nbb\n\nc')).toEqual([5])
  })
})
