import { describe, expect, it } from 'vitest'

import { followServer, type FeedReader, type ServerConnection } from './server-feed.ts'

import type { ConnectionState, TuttiClient } from '@tutti/client'

/** A client whose connections the test controls. */
function openFakeClient() {
  const opened: {
    readonly report: (state: ConnectionState) => void
    readonly end: (error: unknown) => void
    isClosed: boolean
  }[] = []
  const client = {
    connect({ onConnection }: { readonly onConnection: (state: ConnectionState) => void }) {
      const connection = { report: onConnection, end: (_: unknown) => {}, isClosed: false }
      opened.push(connection)
      return {
        subscribe({ onEnd }: { readonly onEnd: (error: unknown) => void }) {
          connection.end = onEnd
        },
        close() {
          connection.isClosed = true
        },
      }
    },
  }
  // NOTE: the parts that a feed uses.
  return { opened, client: client as unknown as TuttiClient }
}

/** Follows the server, and records the states of the connection. */
function follow(client: TuttiClient, more: FeedReader = {}) {
  const leaving = new AbortController()
  const states: ServerConnection[] = []
  const onConnection = (state: ServerConnection): number => states.push(state)
  followServer(client, leaving.signal, { ...more, onConnection })
  return { states, leave: () => leaving.abort() }
}

// NOTE: only the status and the delay are read.
const OPEN = { status: 'open' } as ConnectionState
const LOST = { status: 'reconnecting', delayMs: 5_000 } as ConnectionState

describe('the feed of a server', () => {
  it('[REACT-5] Readers of a client share a connection, which is closed after the last one', () => {
    const { client, opened } = openFakeClient()
    const first = follow(client)
    opened[0]?.report(OPEN)
    const second = follow(client)
    expect(opened).toHaveLength(1)
    expect(second.states).toEqual([{ status: 'open', losses: 0 }])
    first.leave()
    expect(opened[0]?.isClosed).toBe(false)
    second.leave()
    expect(opened[0]?.isClosed).toBe(true)
    follow(client).leave()
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true])
  })

  it('[REACT-5] A reader learns each change of the connection, with the number of losses', () => {
    const { client, opened } = openFakeClient()
    let count = 0
    const { states } = follow(client, { onOpen: () => (count += 1) })
    for (const state of [OPEN, LOST, OPEN]) opened[0]?.report(state)
    expect(states.map(({ status, losses }) => [status, losses])).toEqual([
      ['connecting', 0],
      ['open', 0],
      ['reconnecting', 0],
      ['open', 1],
    ])
    expect(states.map(({ retryAt }) => typeof retryAt)).toEqual([
      'undefined',
      'undefined',
      'number',
      'undefined',
    ])
    expect(count).toBe(2)
  })

  it('A connection whose subscription was refused is reported as closed, with the reason', () => {
    const { client, opened } = openFakeClient()
    const { states } = follow(client)
    opened[0]?.report(OPEN)
    opened[0]?.end(new Error('No access'))
    expect(states.at(-1)).toMatchObject({ status: 'closed', error: { message: 'No access' } })
  })
})
