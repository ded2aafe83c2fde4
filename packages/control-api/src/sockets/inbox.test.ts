import { describe, expect, it } from 'vitest'

import { MessageInbox, MAX_IN_FLIGHT } from './inbox.ts'

import type { RawData } from 'ws'

/** Creates a connection that records whether it is read, and handlers that end on request. */
function connection(takeTurn: () => Promise<void> = () => Promise.resolve()) {
  const ends: (() => void)[] = []
  const begun: string[] = []
  let isPaused = false
  const socket = {
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
    },
  }
  const answer = (data: RawData): Promise<void> => {
    begun.push(Buffer.isBuffer(data) ? data.toString('utf8', 0, 10) : '')
    return new Promise((resolve) => ends.push(resolve))
  }
  const inbox = new MessageInbox(socket, answer, takeTurn)
  const send = (count: number): void => {
    for (let index = 0; index < count; index += 1) inbox.take(Buffer.from(String(index)))
  }
  const sendText = (text: string): void => {
    inbox.take(Buffer.from(text))
  }
  return { send, sendText, begun, ends, isPaused: () => isPaused }
}

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('MessageInbox', () => {
  it('[API-I1] MessageInbox handles a limited number of messages at a time, in order', async () => {
    const { send, begun, ends } = connection()
    send(2_000)
    await turns(50)
    expect(begun).toEqual(Array.from({ length: MAX_IN_FLIGHT }, (_, index) => String(index)))
    ends[0]?.()
    await turns(2)
    expect(begun).toHaveLength(MAX_IN_FLIGHT + 1)
    expect(begun.at(-1)).toBe(String(MAX_IN_FLIGHT))
  })

  it('[API-I2] MessageInbox yields to other work after a few messages', () => {
    const { send, begun } = connection()
    send(2_000)
    expect(begun).toHaveLength(8)
  })

  it('[API-I4] MessageInbox starts a large message in its turn, and later messages after it', async () => {
    const turn = Promise.withResolvers<void>()
    const { sendText, begun, isPaused } = connection(() => turn.promise)
    sendText('first')
    sendText('large'.padEnd(16_385))
    sendText('last')
    await turns(20)
    expect(begun).toEqual(['first'])
    expect(isPaused()).toBe(true)
    turn.resolve()
    await turns(2)
    expect(begun).toEqual(['first', 'large     ', 'last'])
    expect(isPaused()).toBe(false)
  })

  it('[API-I3] MessageInbox stops reading while messages wait, and resumes when they have started', async () => {
    const { send, ends, isPaused } = connection()
    send(1)
    expect(isPaused()).toBe(false)
    send(100)
    expect(isPaused()).toBe(true)
    for (let round = 0; round < 20; round += 1) {
      for (const end of ends.splice(0)) end()
      await turns(2)
    }
    expect(isPaused()).toBe(false)
  })
})
