import { describe, expect, it } from 'vitest'

import { IncomingMessages } from './incoming-messages.ts'

/** Messages of a connection with open requests of the ids. */
function withOpen(...ids: readonly number[]): IncomingMessages {
  const messages = new IncomingMessages(() => true)
  for (const id of ids) messages.sent({ jsonrpc: '2.0', id, method: 'tools/call' })
  return messages
}

const MANY = `[${'1,'.repeat(60_000)}1]`

describe('[MCP-N5] an answer with too many fields and items', () => {
  it('An answer with too many fields and items ends its request with their number, wherever its id is', () => {
    const messages = withOpen(7, 8)
    const text = `{"jsonrpc":"2.0","result":{"content":[],"structuredContent":{"id":99999,"n":${MANY}}},"id":8}`
    expect(messages.read(text)).toMatchObject([
      {
        id: 8,
        error: {
          message: expect.stringContaining(
            'the answer to tools/call cannot be read: it must have at most 50000 fields and items, got 60008',
          ),
        },
      },
    ])
    expect([messages.isOpen(7), messages.isOpen(8)]).toEqual([true, false])
  })

  it('An answer with too many fields and items ends the request of its exchange when it names none', () => {
    const messages = withOpen(7)
    expect(messages.read(`{"result":${MANY}}`, 7)).toMatchObject([{ id: 7 }])
  })

  it('An answer with too many fields and items is ignored when it is a notification', () => {
    const messages = withOpen(7)
    const text = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":${MANY}}}`
    expect(messages.read(text)).toEqual([])
    expect(messages.isOpen(7)).toBe(true)
  })

  it('An answer with too many fields and items is read up to exactly the limit', () => {
    const messages = withOpen(7)
    const list = `[${'1,'.repeat(49_993)}1]`
    const text = `{"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"n":${list}}}}`
    expect(messages.read(text)).toMatchObject([{ id: 7, result: { content: [] } }])
  })
})
