import { describe, expect, it } from 'vitest'

import { createPeerRequest } from './peer-request.ts'
import { UpdateQueue } from './peer-session.ts'
import { PendingRequests, ReportedEvents } from './pending-requests.ts'

describe('createPeerRequest', () => {
  const question = {
    kind: 'task',
    name: 'sing',
    from: 'me',
    requestId: 'r',
    input: 'Ode',
    traceparent: undefined,
  } as const

  it.each<[number, string | undefined]>([
    [Infinity, undefined],
    [90_061_001, 'PT90061.001S'],
    [0.2, 'PT0.001S'],
    [-5, 'PT0.001S'],
  ])('createPeerRequest with %d ms left sets the deadline %s', (deadlineMs, deadline) => {
    const request = createPeerRequest({ ...question, deadlineMs })
    expect('deadline' in request ? request.deadline : undefined).toBe(deadline)
  })
})

describe('PendingRequests', () => {
  it('PendingRequests returns the same request id for the same request in every process', () => {
    const [one, other] = [new PendingRequests(), new PendingRequests()]
    expect(one.find(['a', 1], 5)).toEqual({
      requestId: other.find(['a', 1], 9).requestId,
      askedAt: 5,
    })
    expect(one.find(['a', 1], 7).askedAt).toBe(5)
    expect(one.find(['a', 2], 7).requestId).not.toBe(one.find(['a', 1], 7).requestId)
  })

  it('PendingRequests returns a new request id after the previous request has ended', () => {
    const asked = new PendingRequests()
    const ids = [0, 1, 2].map((at) => {
      const { requestId, askedAt } = asked.find(['a'], at)
      expect(askedAt).toBe(at)
      asked.end(['a'], at + 1)
      return requestId
    })
    expect(new Set(ids).size).toBe(3)
  })

  it('PendingRequests remembers the newest thousand calls', () => {
    const asked = new PendingRequests()
    const first = asked.find(['first'], 0)
    asked.end(['first'], 0)
    const second = asked.find(['first'], 0)
    for (let index = 0; index < 999; index += 1) asked.find([index], 0)
    expect(asked.find(['first'], 1)).toEqual(second)
    for (let index = 0; index < 999; index += 1) asked.find([-1 - index], 0)
    expect(asked.find(['first'], 1)).toEqual(second)
    for (let index = 0; index < 1_000; index += 1) asked.find([index], 0)
    expect(asked.find(['first'], 2)).toEqual({ requestId: first.requestId, askedAt: 2 })
  })
})

describe('UpdateQueue', () => {
  it('UpdateQueue yields items in order, fails with the first reason and ignores later items', async () => {
    const inbox = new UpdateQueue<number>()
    const got: number[] = []
    const reading = (async () => {
      for await (const item of inbox) got.push(item)
    })()
    inbox.add(1)
    await Promise.resolve()
    inbox.add(2)
    inbox.end('First')
    inbox.end('Second')
    inbox.add(3)
    await expect(reading).rejects.toBe('First')
    expect(got).toEqual([1, 2])
  })

  it('UpdateQueue yields items that are added while it is read', async () => {
    const inbox = new UpdateQueue<number>()
    const got: number[] = []
    const reading = (async () => {
      for await (const item of inbox) {
        got.push(item)
        if (item >= 20) inbox.end('Enough')
        // Add the next item after as many microtask turns as the number of this item.
        else if (item % 2 === 0) inbox.add(item + 1)
        else void later(item).then(() => inbox.add(item + 1))
      }
    })()
    inbox.add(0)
    await expect(reading).rejects.toBe('Enough')
    expect(got).toEqual(Array.from({ length: 21 }, (_, index) => index))
  })
})

async function later(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
}

describe('ReportedEvents', () => {
  const progress = (message: string) =>
    ({ type: 'task_progress', requestId: 'r', message }) as const

  it('ReportedEvents reports each event once when the peer starts again, and repeated events as often as they occur', () => {
    const reported = new ReportedEvents()
    const filterNew = (...messages: string[]) =>
      messages.filter((text) => reported.isNew(progress(text)))
    expect(filterNew('a', 'a', 'b')).toEqual(['a', 'a', 'b'])
    reported.startAgain()
    expect(filterNew('a', 'a')).toEqual([])
    reported.startAgain()
    expect(filterNew('a', 'a', 'b', 'a')).toEqual(['a'])
    reported.startAgain()
    expect(filterNew('c')).toEqual(['c'])
  })
})
