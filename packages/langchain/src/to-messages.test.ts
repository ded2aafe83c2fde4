import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { expect, it } from 'vitest'

import { toMessages } from './to-messages.ts'

it('toMessages shows a model its own call with all digits of its integers', () => {
  const [message] = toMessages(
    [
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          {
            id: 'c',
            name: 'find',
            arguments: '{"id":725653563933458432,"ids":[5,-9007199254740993]}',
          },
        ],
      },
    ],
    { AIMessage, HumanMessage, SystemMessage, ToolMessage },
    { provider: 'openai', name: 'm' },
  )
  if (!(message instanceof AIMessage)) throw new Error('Not an assistant message')
  expect(message.tool_calls?.map(({ args }) => JSON.stringify(args))).toEqual([
    '{"id":725653563933458432,"ids":[5,-9007199254740993]}',
  ])
})
