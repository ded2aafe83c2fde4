import { describe, expect, it } from 'vitest'

import { MessageSize } from './message-size.ts'

function sizes(isStream: boolean, ...pieces: readonly string[]): readonly number[] {
  const size = new MessageSize(isStream)
  return pieces.map((piece) => size.add(Buffer.from(piece)))
}

describe('the size of a message', () => {
  it('of a body is all of it', () => {
    expect(sizes(false, 'ab\n\n', 'cd')).toEqual([4, 6])
  })

  it.each(['\n', '\r\n'])('of a stream starts anew after a blank line (%j)', (end) => {
    expect(sizes(true, `data: a${end}${end}`, 'data: b')[1]).toBe(7)
  })

  it('of a stream goes on over lines and pieces', () => {
    expect(sizes(true, 'data: a\n', 'data', ': b\n', '\n', 'x')).toEqual([7, 11, 14, 14, 1])
  })

  it('of a stream is that of the longest message in a piece', () => {
    expect(sizes(true, 'aaaaa\n\nbb\n\nc')).toEqual([5])
  })
})
