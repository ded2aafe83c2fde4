import { TextRestorer } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { LOG, RUN_ID } from '../../test/sample-run.ts'
import { decodeEvent } from './decode-event.ts'

const [first] = LOG

describe('decodeEvent', () => {
  it('decodeEvent returns an event unchanged', () => {
    expect(decodeEvent(JSON.stringify(first), RUN_ID, new TextRestorer())).toEqual({
      known: true,
      event: first,
    })
  })

  it('decodeEvent keeps unknown fields', () => {
    const event = { ...first, mood: 'good' }
    expect(decodeEvent(JSON.stringify(event), RUN_ID, new TextRestorer())).toEqual({
      known: true,
      event,
    })
  })

  it('decodeEvent returns the position of an event of an unknown type', () => {
    const event = { type: 'tea_break', runId: RUN_ID, seq: 4, id: 'run-1:4', kind: 'green' }
    expect(decodeEvent(JSON.stringify(event), RUN_ID, new TextRestorer())).toEqual({
      known: false,
      event,
    })
  })

  it.each([
    ['{"type":', 'Cannot read the events of run "run-1": must be JSON, got "{\\"type\\":"'],
    ['', 'Cannot read the events of run "run-1": must be JSON, got an empty text'],
    ['null', 'Cannot read the events of run "run-1": '],
    ['{"type":"token","runId":"run-1","seq":1,"id":"run-1:1"}', '/token is required'],
    ['{"type":"tea_break","runId":"run-1"}', '/seq is required'],
    [JSON.stringify({ ...first, runId: 'run-2' }), '/runId must be "run-1", got "run-2"'],
    [JSON.stringify({ ...first, seq: -1 }), '/seq must be'],
  ])('decodeEvent rejects %s', (data, message) => {
    expect(() => decodeEvent(data, RUN_ID, new TextRestorer())).toThrow(
      expect.objectContaining({
        code: 'BAD_RESPONSE',
        retryable: false,
        message: expect.stringContaining(message),
      }),
    )
  })
})
