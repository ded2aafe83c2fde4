/** LangChain parses all arguments of an answer again with each piece, so it gets each call whole. */
import { describe, expect, it } from 'vitest'

import { mergeFragments } from '../tool-call-fragments.ts'
import { MessagesReader } from './anthropic-messages.ts'
import { CompletionsReader } from './chat-completions.ts'
import { ResponsesReader } from './responses.ts'

import type { Json } from '../json.ts'
import type { WireReader } from './wire-reader.ts'

const TEXT = JSON.stringify({ text: 'x'.repeat(48_000) })
const PIECES = TEXT.match(/.{1,3}/gu) ?? []

/** Returns the events that a reader sends for a stream. */
function readAll(reader: WireReader, events: readonly Json[], isDone = true): readonly Json[] {
  return [...events.flatMap((event) => reader.read(event)), ...reader.end(isDone)]
}

function completions(delta: Json): Json {
  return { choices: [{ index: 0, delta }] }
}

describe('16,000 pieces of arguments', () => {
  it.each([true, false])(
    '[LC-C2] 16,000 pieces of arguments are one piece of a chat completion, ended: %s',
    (isDone) => {
      const call = (more: Json) => completions({ tool_calls: [{ index: 0, ...more }] })
      const sent = readAll(
        new CompletionsReader(),
        [
          call({ id: 'c1', function: { name: 'echo', arguments: '' } }),
          ...PIECES.map((piece) => call({ function: { arguments: piece } })),
        ],
        isDone,
      )
      const chunks = sent.filter((event) => JSON.stringify(event).includes('tool_calls":['))
      expect(chunks).toMatchObject([
        {
          choices: [
            { delta: { tool_calls: [{ id: 'c1', function: { name: 'echo', arguments: TEXT } }] } },
          ],
        },
      ])
    },
  )

  it.each([true, false])(
    '[LC-A2] 16,000 pieces of arguments are one delta of the Messages API, block ended: %s',
    (isEnded) => {
      const sent = readAll(new MessagesReader(), [
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'c1', name: 'echo', input: {} },
        },
        ...PIECES.map((piece) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: piece },
        })),
        ...(isEnded ? [{ type: 'content_block_stop', index: 0 }] : []),
      ])
      const deltas = sent.filter(({ type }) => type === 'content_block_delta')
      expect(deltas).toEqual([
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: TEXT },
        },
      ])
    },
  )

  it.each([true, false])(
    '[LC-RS3] 16,000 pieces of arguments are one delta of the Responses API, item ended: %s',
    (isEnded) => {
      const sent = readAll(new ResponsesReader(), [
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'function_call', name: 'echo', call_id: 'c1', arguments: '' },
        },
        ...PIECES.map((delta) => ({
          type: 'response.function_call_arguments.delta',
          output_index: 0,
          delta,
        })),
        ...(isEnded
          ? [{ type: 'response.function_call_arguments.done', output_index: 0, arguments: TEXT }]
          : []),
      ])
      const type = 'response.function_call_arguments.delta'
      expect(sent.filter((event) => event['type'] === type)).toEqual([
        { type, output_index: 0, delta: TEXT },
      ])
    },
  )
})

describe('mergeFragments', () => {
  it('mergeFragments joins the pieces of 10,000 calls to one for each', () => {
    const calls = Array.from({ length: 10_000 }, (_, index) => ({ index, id: `c${index}` }))
    const pieces = [
      ...calls.map((call) => ({ ...call, name: 'echo', args: '{"a":' })),
      ...calls.map(({ index }) => ({ index, args: '1}' })),
    ]
    expect(mergeFragments(pieces)).toEqual(
      calls.map((call) => ({ ...call, name: 'echo', args: '{"a":1}' })),
    )
  })
})
