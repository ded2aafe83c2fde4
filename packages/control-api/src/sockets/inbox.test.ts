import { describe, expect, it } from 'vitest'

import { MessageInbox, MAX_IN_FLIGHT } from './inbox.ts'

/** Creates a connection that records whether it is read, and handlers that end on request. */
function connection() {
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
  const inbox = new MessageInbox(socket, (data) => {
    begun.push(Buffer.isBuffer(data) ? data.toString() : '')
    return new Promise((resolve) => ends.push(resolve))
  })
  const send = (count: number): void => {
    for (let index = 0; index < count; index += 1) inbox.take(Buffer.from(String(index)))
  }
  return { send, begun, ends, isPaused: () => isPaused }
}

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('MessageInbox', () => {
  it('[API-I1] handles a limited number of messages at a time, in order', async () => {
    const { send, begun, ends } = connection()
    send(2_000)
    await turns(50)
    expect(begun).toEqual(Array.from({ length: MAX_IN_FLIGHT }, (_, index) => String(index)))
    ends[0]?.()
    await turns(2)
    expect(begun).toHaveLength(MAX_IN_FLIGHT + 1)
    expect(begun.at(-1)).toBe(String(MAX_IN_FLIGHT))
  })

  it('[API-I2] yields to other work after a few messages', () => {
    const { send, begun } = connection()
    send(2_000)
    expect(begun).toHaveLength(8)
  })

  it('[API-I3] stops reading while messages wait, and resumes when they have started', async () => {
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
