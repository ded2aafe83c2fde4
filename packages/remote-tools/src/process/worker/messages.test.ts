import { ToolResult } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { decodeWorkerMessage, encodeCall, encodeCancel, type WorkerMessage } from './messages.ts'

const { success, failure } = ToolResult

describe('encodeCall', () => {
  it('encodeCall contains an id, the input, the key of the call and its run', () => {
    expect(encodeCall('7', { city: 'Bonn' }, { idempotencyKey: 'k', runId: 'r' })).toBe(
      '{"id":"7","input":{"city":"Bonn"},"idempotencyKey":"k","runId":"r"}\n',
    )
    expect(encodeCall('7', 'Bonn', { idempotencyKey: 'k' })).toBe(
      '{"id":"7","input":"Bonn","idempotencyKey":"k"}\n',
    )
  })

  it('encodeCall is one line for every reader and any input', () => {
    const input = 'a\nb\r\nc\u2028d\u2029e\u0085'
    const line = encodeCall('1', input, { idempotencyKey: 'k' })
    expect(line.slice(0, -1)).not.toMatch(/[\n\r\u2028\u2029]/)
    expect(JSON.parse(line)).toMatchObject({ input })
  })
})

it('encodeCancel encodes a cancellation with the id of its call', () => {
  expect(encodeCancel('7')).toBe('{"id":"7","cancel":true}\n')
})

describe('decodeWorkerMessage', () => {
  it.each<[string, WorkerMessage | undefined]>([
    ['{"id":"7","output":"x"}', { type: 'answer', id: '7', result: success('x') }],
    ['{"id":7,"output":"x"}', { type: 'answer', id: '7', result: success('x') }],
    ['{"output":"x","id":"7"}', { type: 'answer', id: '7', result: success('x') }],
    ['{"id":"7","success":false,"error":"no"}', { type: 'answer', id: '7', result: failure('no') }],
    [
      '{"id":"7","structured":{"n":1}}',
      { type: 'answer', id: '7', result: success('{"structured":{"n":1}}', { n: 1 }) },
    ],
    ['{"id":"7"}', { type: 'answer', id: '7', result: success('{}') }],
    ['{"id":"7","ready":true}', { type: 'answer', id: '7', result: success('{"ready":true}') }],
    ['{"ready":true}', { type: 'ready' }],
    ['{"ready":false}', undefined],
    ['{"output":"x"}', undefined],
    ['{"id":null,"output":"x"}', undefined],
    ['["7"]', undefined],
    ['7', undefined],
    ['loading…', undefined],
    ['{"id":"7","output":"x"', undefined],
    ['', undefined],
  ])('decodeWorkerMessage decodes %s', (line, message) => {
    expect(decodeWorkerMessage(line, { declaresOutput: false })).toEqual(message)
  })

  it('decodeWorkerMessage returns the value for a tool that declares its output', () => {
    expect(decodeWorkerMessage('{"id":"7","output":5}', { declaresOutput: true })).toEqual({
      type: 'answer',
      id: '7',
      result: success('5', 5),
    })
  })
})
