import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { ask, waitForBytes, peerCall, toPeer, readUntil, collectUpdates } from './peer-calls.ts'
import { rawServer, type RawConnection, type RawMessage } from './peer-raw.ts'

import type { Duplex } from 'node:stream'

/** Timeouts of `SocketLink`. */
const SILENT_MS = 45_000
const UNUSED_MS = 60_000

/** Answers every task at once. */
function answerTasks({ on, send }: RawConnection): void {
  on('task_request', ({ requestId }) => {
    send({ type: 'task_response', requestId, status: 'COMPLETED', result: 'Done' })
  })
}

/** Accepts every task, reports progress once, and then calls `next`. */
function acceptTasks(connection: RawConnection, next: (request: RawMessage) => void): void {
  connection.on('task_request', (request) => {
    const { requestId } = request
    connection.send({ type: 'task_accepted', requestId, runId: 'run-1' })
    connection.send({ type: 'task_progress', requestId, message: 'One' })
    next(request)
  })
}

const ANSWER = { kind: 'end', state: 'completed', output: 'Done' }

describe('a task request', () => {
  it('A task request contains the deadline, the trace and the name of the caller', async () => {
    await using server = await rawServer(answerTasks)
    await using connector = toPeer(server, 'task:a%20b', { from: 'kitchen' })
    const call = peerCall({
      remaining: () => ({ timeMs: 1_500.2, costUsd: 1, tokens: Infinity }),
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    })
    expect(await collectUpdates(await connector.connect(call), { input: { a: 1 } })).toEqual([
      ANSWER,
    ])
    const { deadline, ...request } = await server.got('task_request')
    expect(deadline).toMatch(/^PT1\.50\dS$/)
    expect(request).toEqual({
      type: 'task_request',
      requestId: expect.stringMatching(/^tutti-/),
      from: 'kitchen',
      task: 'a b',
      context: '{"a":1}',
      traceContext: { traceparent: call.traceparent },
    })
  })

  it('A task request omits the deadline, the trace and the context when the call has none', async () => {
    await using server = await rawServer(answerTasks)
    await using connector = toPeer(server, 'task:sing')
    await collectUpdates(await connector.connect(peerCall()), { input: null })
    expect(await server.got('task_request')).toEqual({
      type: 'task_request',
      requestId: expect.any(String),
      from: 'tutti',
      task: 'sing',
    })
  })

  it('[AE-P2] A task request extends the deadline of a repeated request by the time since the first one', async () => {
    const clock = fakeClock()
    await using server = await rawServer(({ on, socket }, index) => {
      on('task_request', () => {
        if (index < 2) socket.terminate()
      })
      if (index === 2) answerTasks(server.connections[index] ?? fail())
    })
    await using connector = toPeer(server, 'task:sing', { clock })
    const settings = {
      idempotencyKey: 'one',
      remaining: () => ({ timeMs: 10_000, costUsd: Infinity, tokens: Infinity }),
    }
    await expect(collectUpdates(await connector.connect(peerCall(settings)))).rejects.toThrow(
      'was lost',
    )
    await clock.advance(4_000)
    const again = collectUpdates(await connector.connect(peerCall(settings)))
    const [first, second, third] = [
      await server.got('task_request', 1),
      await server.got('task_request', 2),
      await server.got('task_request', 3),
    ]
    expect(second).toEqual(first)
    expect(third).toEqual({ ...first, deadline: 'PT14.000S' })
    expect(first).toMatchObject({ deadline: 'PT10.000S' })
    server.connections[2]?.send({
      type: 'task_response',
      requestId: third.requestId,
      status: 'COMPLETED',
      result: 'Done',
    })
    expect(await again).toEqual([ANSWER])
  })
})

describe('a connection', () => {
  it('A peer connection subscribes only to replies and ignores other messages', async () => {
    await using server = await rawServer((connection) => {
      connection.send('{"type":"hello","snapshotTrace":[ this is not even JSON')
      connection.send({ type: 'task_response', requestId: 'of-another', status: 'COMPLETED' })
      connection.send({ type: 'future_message', requestId: 1 })
      answerTasks(connection)
    })
    await using connector = toPeer(server, 'task:sing')
    expect(await ask(connector)).toEqual([ANSWER])
    const [first] = server.received
    expect(first).toMatchObject({ type: 'subscribe' })
    expect(first?.['events']).toEqual([
      'task_accepted',
      'task_progress',
      'task_response',
      'tool_response',
      'capability_response',
      'run_control_ack',
      'error',
      'heartbeat',
    ])
  })

  it('A peer connection reads messages that arrive together with the handshake response', async () => {
    await using server = await rawServer((connection) => {
      connection.send('Guten Tag')
      answerTasks(connection)
    })
    await using connector = toPeer(server, 'task:sing')
    await expect(ask(connector)).rejects.toThrow('begins with "Guten Tag"')
  })

  it('[NET-K4] A peer connection reports all received bytes to every call, including pings', async () => {
    await using server = await rawServer(() => undefined)
    await using connector = toPeer(server, 'task:sing')
    const calls = [peerCall(), peerCall()]
    const ends = calls.map(async (call) => collectUpdates(await connector.connect(call)))
    await server.got('task_request', 2)
    const before = calls.map(({ arrivals }) => arrivals)
    server.connections[0]?.socket.ping()
    for (const call of calls) await waitForBytes(call)
    expect(before).toEqual([0, 0])
    for (const call of calls) call.abort('Enough')
    for (const end of ends) await expect(end).rejects.toBe('Enough')
  })

  it('[NET-K1] A peer connection is closed after the idle time, but not while it is used', async () => {
    const clock = fakeClock()
    await using server = await rawServer(answerTasks)
    await using connector = toPeer(server, 'task:sing', { clock })
    await ask(connector)
    await clock.advance(SILENT_MS - 1)
    await ask(connector)
    await clock.advance(UNUSED_MS - 1)
    expect(server.connections[0]?.socket.readyState).toBe(1)
    await clock.advance(1)
    expect(await server.closed(0)).toBe(1000)
    expect(server.connections).toHaveLength(1)
    await ask(connector)
    expect(server.connections).toHaveLength(2)
  })

  it('[NET-K4] A peer connection is not used for new calls after a long silence', async () => {
    const clock = fakeClock()
    const held: RawMessage[] = []
    await using server = await rawServer((connection, index) => {
      if (index === 1) answerTasks(connection)
      else connection.on('task_request', (request) => held.push(request))
    })
    await using connector = toPeer(server, 'task:sing', { clock })
    const waiting = ask(connector)
    await server.got('task_request')
    await clock.advance(SILENT_MS)
    expect(await ask(connector)).toEqual([ANSWER])
    expect(server.connections).toHaveLength(2)
    const [{ requestId } = fail()] = held
    server.connections[0]?.send({
      type: 'task_response',
      requestId,
      status: 'COMPLETED',
      result: 'Late',
    })
    expect(await waiting).toMatchObject([{ output: 'Late' }])
  })

  it('[NET-K1] A peer connection is aborted during the handshake when its last call ends', async () => {
    const duplexes: Duplex[] = []
    const began = Promise.withResolvers<void>()
    await using server = await rawServer(
      () => undefined,
      (duplex) => {
        duplexes.push(duplex)
        began.resolve()
        return true
      },
    )
    await using connector = toPeer(server, 'task:sing')
    const [one, two] = [peerCall(), peerCall()]
    const ends = [one, two].map(async (call) => collectUpdates(await connector.connect(call)))
    await began.promise
    const [duplex = fail()] = duplexes
    const ended = new Promise((resolve) => duplex.on('end', resolve))
    duplex.resume()
    one.abort('First')
    await expect(ends[0]).rejects.toBe('First')
    expect(duplex.readableEnded).toBe(false)
    two.abort('Second')
    await expect(ends[1]).rejects.toBe('Second')
    await ended
    duplex.destroy()
    expect(duplexes).toHaveLength(1)
  })

  it('[NET-K1] A peer connection is released by an aborted call even if its updates are not read to the end', async () => {
    const clock = fakeClock()
    await using server = await rawServer((connection) => acceptTasks(connection, () => undefined))
    await using connector = toPeer(server, 'task:sing', { clock })
    const call = peerCall()
    const session = await connector.connect(call)
    await readUntil(
      session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator](),
      'task_accepted',
    )
    call.abort()
    await clock.advance(UNUSED_MS)
    expect(await server.closed(0)).toBe(1000)
  })

  it('A peer connection is not opened for a call that was aborted before', async () => {
    await using server = await rawServer(answerTasks)
    await using connector = toPeer(server, 'task:sing')
    const call = peerCall()
    call.abort('Enough')
    await expect(collectUpdates(await connector.connect(call))).rejects.toBe('Enough')
    await ask(connector)
    expect(server.received.filter(({ type }) => type === 'task_request')).toHaveLength(1)
  })

  it('[AE-P3] A peer connection is not used for new calls after a tool call on it was cancelled', async () => {
    await using server = await rawServer((connection, index) => {
      connection.on('tool_request', ({ requestId, input }) => {
        if (input !== 'quick') return
        connection.send({
          type: 'tool_response',
          requestId,
          status: 'COMPLETED',
          result: `${index}`,
        })
      })
    })
    await using connector = toPeer(server, 'tool:saw')
    const [stays, goes] = [peerCall(), peerCall()]
    const ends = [stays, goes].map(async (call) => {
      const session = await connector.connect(call)
      return { session, end: collectUpdates(session, { input: 'slow' }) }
    })
    const [staying, going] = [await ends[0], await ends[1]]
    await server.got('tool_request', 2)
    await going?.session.cancel(new AbortController().signal)
    goes.abort('Enough')
    await expect(going?.end).rejects.toBe('Enough')
    expect(await ask(connector, 'quick')).toMatchObject([{ output: '1' }])
    stays.abort('Enough')
    await expect(staying?.end).rejects.toBe('Enough')
    expect(await server.closed(0)).toBe(1006)
  })

  it('A peer connection ends with the connector: running calls fail and are not repeated', async () => {
    await using server = await rawServer(() => undefined)
    await using connector = toPeer(server, 'task:sing')
    const end = expect(ask(connector)).rejects.toMatchObject({
      failureType: 'connection_lost',
      message: `The connection to the agent at ${server.url} was closed by this side`,
    })
    await server.got('task_request')
    await connector.close?.()
    await end
    expect(await server.closed(0)).toBe(1000)
    await connector.close?.()
    expect(server.connections).toHaveLength(1)
  })

  it('A peer connection is terminated when the peer does not confirm the close', async () => {
    const clock = fakeClock()
    await using server = await rawServer((connection) => {
      answerTasks(connection)
      connection.on('task_request', () => connection.socket.pause())
    })
    await using connector = toPeer(server, 'task:sing', { clock })
    await ask(connector)
    const closing = connector.close?.()
    await clock.advance(1_000)
    await closing
  })
})

describe('a lost connection', () => {
  it('[AE-P2] A lost peer connection is reopened once for a task, without reporting its events twice', async () => {
    await using server = await rawServer((connection, index) => {
      acceptTasks(connection, ({ requestId }) => {
        if (index === 0) connection.socket.terminate()
        else {
          connection.send({ type: 'task_progress', requestId, message: 'One' })
          connection.send({ type: 'task_progress', requestId, message: 'Two' })
          connection.send({ type: 'task_response', requestId, status: 'COMPLETED', result: 'Done' })
        }
      })
    })
    await using connector = toPeer(server, 'task:sing')
    const warnings: unknown[] = []
    const nothing = (): void => undefined
    const logger = {
      debug: nothing,
      info: nothing,
      error: nothing,
      warn: (...logged: readonly unknown[]) => warnings.push(logged),
    }
    const updates = await collectUpdates(await connector.connect(peerCall({ logger })))
    const chunks = updates.map((update) =>
      update.kind === 'chunk' ? readMessage(update.chunk) : update,
    )
    expect(chunks).toEqual(['task_accepted', 'One', 'One', 'Two', ANSWER])
    const [first, second] = server.received.filter(({ type }) => type === 'task_request')
    expect(second).toEqual(first)
    expect(warnings).toEqual([
      [
        'Lost the connection to a peer; requesting its task again',
        {
          agent: `${server.url}/#task:sing`,
          reason: expect.stringContaining('was lost: closed with code 1006'),
        },
      ],
    ])
  })

  it('A lost peer connection fails the call when it is lost again, with the close reason of the peer', async () => {
    await using server = await rawServer((connection) => {
      acceptTasks(connection, () => connection.socket.close(1013, 'Too slow'))
    })
    await using connector = toPeer(server, 'task:sing')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'connection_lost',
      retryable: true,
      message: `The connection to the agent at ${server.url} was lost: closed with code 1013 "Too slow"`,
    })
    expect(server.connections).toHaveLength(2)
  })

  it('A lost peer connection fails the call when the peer can no longer be reached', async () => {
    const server = await rawServer((connection) => {
      acceptTasks(connection, () => {
        void server[Symbol.asyncDispose]()
      })
    })
    await using connector = toPeer(server, 'task:sing')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'connection_lost',
      retryable: true,
      message: expect.stringMatching(/was lost: .*, and could not be opened again: Cannot reach/),
    })
  })

  it('A lost peer connection is not reopened for a tool call, because the tool may have run', async () => {
    await using server = await rawServer((connection) => {
      connection.on('tool_request', () => connection.socket.terminate())
    })
    await using connector = toPeer(server, 'tool:saw')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'connection_lost',
      retryable: true,
    })
    expect(server.connections).toHaveLength(1)
  })

  it('A lost peer connection is not reopened for a cancelled call', async () => {
    await using server = await rawServer((connection) => {
      acceptTasks(connection, () => undefined)
      connection.on('run_control', () => connection.socket.terminate())
    })
    await using connector = toPeer(server, 'task:sing')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
    await readUntil(updates, 'task_progress')
    const end = expect(updates.next()).rejects.toThrow('was lost')
    await session.cancel(new AbortController().signal)
    await end
    expect(server.received.filter(({ type }) => type === 'task_request')).toHaveLength(1)
  })

  it('A lost peer connection is not reopened for an aborted call', async () => {
    await using server = await rawServer((connection) => acceptTasks(connection, () => undefined))
    await using connector = toPeer(server, 'task:sing')
    const call = peerCall()
    const updates = (await connector.connect(call)).send({ index: 0, input: 'Ode' })
    const reading = updates[Symbol.asyncIterator]()
    await readUntil(reading, 'task_progress')
    call.abort('Enough')
    server.connections[0]?.socket.terminate()
    await expect(reading.next()).rejects.toBe('Enough')
    expect(server.connections).toHaveLength(1)
  })
})

describe('a cancel', () => {
  it('[AE-P3] A cancel of a peer task names the run and resolves with the acknowledgement', async () => {
    await using server = await rawServer((connection) => {
      acceptTasks(connection, () => undefined)
      connection.on('run_control', ({ runId, action }) => {
        connection.send({ type: 'run_control_ack', runId: 'run-2', action, status: 'CANCELLING' })
        connection.send({ type: 'run_control_ack', runId, action, status: 'CANCELLING' })
      })
    })
    await using connector = toPeer(server, 'task:sing')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
    await readUntil(updates, 'task_progress')
    await session.cancel(new AbortController().signal)
    expect(await server.got('run_control')).toEqual({
      type: 'run_control',
      runId: 'run-1',
      action: 'cancel',
    })
  })

  it('A cancel of a peer task ends when its signal aborts, if the peer sends no run id or no acknowledgement', async () => {
    await using server = await rawServer((connection, index) => {
      connection.on('task_request', ({ requestId }) => {
        const run = index === 0 ? { runId: 'run-1' } : {}
        connection.send({ type: 'task_accepted', requestId, ...run })
      })
    })
    for (const _round of [1, 2]) {
      await using connector = toPeer(server, 'task:sing')
      const session = await connector.connect(peerCall())
      const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
      await readUntil(updates, 'task_accepted')
      const bound = new AbortController()
      const cancelling = session.cancel(bound.signal)
      if (_round === 1) await server.got('run_control')
      bound.abort()
      await cancelling
    }
    expect(server.received.filter(({ type }) => type === 'run_control')).toHaveLength(1)
  })

  it('A cancel of a peer task ends at once when the request has failed', async () => {
    await using server = await rawServer(({ on, send }) => {
      on('task_request', ({ requestId }) => {
        send({ type: 'task_response', requestId, status: 'MAYBE' })
      })
    })
    await using connector = toPeer(server, 'task:sing')
    const session = await connector.connect(peerCall())
    await expect(collectUpdates(session)).rejects.toThrow('invalid "task_response"')
    await session.cancel(new AbortController().signal)
    expect(server.received.filter(({ type }) => type === 'run_control')).toEqual([])
  })

  it('A cancel of a peer task sends nothing when the request was not sent', async () => {
    await using server = await rawServer(answerTasks)
    await using connector = toPeer(server, 'task:sing')
    const call = peerCall()
    const session = await connector.connect(call)
    const end = expect(collectUpdates(session)).rejects.toBe('Enough')
    await session.cancel(new AbortController().signal)
    call.abort('Enough')
    await end
    expect(await ask(connector)).toEqual([ANSWER])
    expect(server.received.filter(({ type }) => type === 'task_request')).toHaveLength(1)
  })
})

describe('an invalid or failed answer of a peer', () => {
  const INVALID = 'invalid_response'

  it.each<[string, (connection: RawConnection, requestId: string | undefined) => void, object]>([
    [
      'text that is not JSON',
      ({ send }) => {
        send('Guten Tag')
      },
      {
        failureType: INVALID,
        message: expect.stringContaining('a message that is not JSON: it begins with "Guten Tag"'),
      },
    ],
    [
      'JSON that is not an object',
      ({ send }) => {
        send('17')
      },
      { failureType: INVALID, message: expect.stringContaining('begins with "17"') },
    ],
    [
      'binary data',
      ({ socket }) => {
        socket.send(Buffer.from([0xff, 0xfe, 0x00]))
      },
      { failureType: INVALID },
    ],
    [
      'a response without a status',
      ({ send }, requestId) => {
        send({ type: 'task_response', requestId, result: 7 })
      },
      {
        failureType: INVALID,
        message: expect.stringMatching(
          /^The peer sent an invalid "task_response": .*\/status .*\/result/s,
        ),
      },
    ],
    [
      'a message whose type comes last',
      ({ send }, requestId) => {
        send({ requestId, status: 'FAILED', error: 'No', type: 'task_response' })
      },
      { failureType: 'agent_failed', message: 'The task "sing" of the peer failed: No' },
    ],
    [
      'a rejection without a reason',
      ({ send }, requestId) => {
        send({ type: 'task_response', requestId, status: 'REJECTED' })
      },
      {
        failureType: 'agent_failed',
        retryable: false,
        message: 'The peer rejected the task "sing": no reason stated',
      },
    ],
    [
      'a temporary error',
      ({ send }, requestId) => {
        const fields = { error: 'RATE_LIMITED', message: 'Too many', retryAfterMs: 70 }
        send({ type: 'error', requestId, ...fields })
      },
      {
        failureType: 'agent_failed',
        retryable: true,
        retryAfterMs: 70,
        message: 'The peer could not execute the task "sing": RATE_LIMITED: Too many',
      },
    ],
    [
      'an invalid WebSocket frame',
      ({ socket }) => {
        readStream(socket).write(Buffer.from([0xff, 0xff, 0xff]))
      },
      { failureType: INVALID, retryable: false },
    ],
  ])(
    'An invalid or failed answer of a peer fails the call for %s',
    async (_title, sendAnswer, failure) => {
      await using server = await rawServer((connection) => {
        connection.on('task_request', ({ requestId }) => {
          sendAnswer(connection, requestId)
        })
      })
      await using connector = toPeer(server, 'task:sing')
      await expect(ask(connector)).rejects.toMatchObject(failure)
      expect(server.connections).toHaveLength(1)
    },
  )

  it('An invalid or failed answer of a peer logs an error without a request id and continues', async () => {
    const warnings: unknown[] = []
    await using server = await rawServer((connection) => {
      connection.on('task_request', () => {
        connection.send({ type: 'error', error: 'BAD_REQUEST', message: 'What?' })
      })
      answerTasks(connection)
    })
    await using connector = toPeer(server, 'task:sing')
    const nothing = (): void => undefined
    const warn = (_message: string, fields: unknown) => warnings.push(fields)
    const logger = { debug: nothing, info: nothing, warn, error: nothing }
    const call = peerCall({ logger })
    expect(await collectUpdates(await connector.connect(call))).toEqual([ANSWER])
    expect(warnings).toMatchObject([{ reason: 'BAD_REQUEST: What?' }])
  })
})

describe('a handshake', () => {
  it.each<[string, string, object]>([
    [
      'that is refused temporarily',
      'HTTP/1.1 503 Service Unavailable\r\nretry-after: 3\r\ncontent-length: 4\r\n\r\nBusy',
      {
        failureType: 'http_error',
        retryable: true,
        retryAfterMs: 3_000,
        message: 'Agent returned error 503 Service Unavailable: Busy',
      },
    ],
    [
      'that is answered with 200',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nHi',
      { failureType: 'http_error', retryable: false, message: 'Agent returned error 200 OK: Hi' },
    ],
    [
      'that is answered with 204',
      'HTTP/1.1 204 No Content\r\n\r\n',
      { failureType: 'http_error', message: 'Agent returned error 204 No Content' },
    ],
    [
      'that is redirected',
      'HTTP/1.1 302 Found\r\nlocation: ws://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n',
      { failureType: 'http_error', message: 'Agent returned error 302 Found' },
    ],
    [
      'that switches to another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: tea\r\nconnection: upgrade\r\n\r\n',
      {
        failureType: 'invalid_response',
        message: expect.stringContaining('WebSocket handshake failed: Invalid Upgrade header'),
      },
    ],
    ['whose connection is closed', '', { failureType: 'unreachable', retryable: true }],
  ])(
    'A peer handshake %s fails with the matching failure type',
    async (_title, answer, failure) => {
      await using server = await rawServer(
        () => undefined,
        (duplex) => {
          duplex.end(answer)
          return true
        },
      )
      await using connector = toPeer(server, 'task:sing')
      await expect(ask(connector)).rejects.toMatchObject(failure)
    },
  )

  it('A peer handshake is reported as unreachable without the secrets of the address', async () => {
    const { url } = await (async () => {
      await using server = await rawServer(() => undefined)
      return server
    })()
    await using connector = toPeer({ url: url.replace('//', '//me:secret@') }, 'task:sing')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'unreachable',
      retryable: true,
      message: `Cannot reach the agent at ${url}: the connection was refused`,
    })
  })

  it('A peer handshake sends the current headers, and fails when they cannot be computed', async () => {
    await using server = await rawServer(answerTasks)
    let hasKey = true
    await using connector = toPeer(server, 'task:sing', {
      headers: () => {
        if (!hasKey) throw new Error('No key')
        return { authorization: 'Bearer 1' }
      },
    })
    await ask(connector)
    expect(server.connections[0]?.request.headers.authorization).toBe('Bearer 1')
    expect(server.connections[0]?.request.url).toBe('/ws')
    await connector.close?.()
    hasKey = false
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'configuration',
      message: expect.stringContaining('No key'),
    })
  })

  it('A peer handshake sends the user and password of the address', async () => {
    await using server = await rawServer(answerTasks)
    const url = server.url.replace('//', '//me:s%20cret@')
    await using connector = toPeer({ url: `${url}/a/b?ticket=1` }, 'task:sing')
    await ask(connector)
    const { headers, url: path } = server.connections[0]?.request ?? fail()
    expect(headers.authorization).toBe(`Basic ${Buffer.from('me:s cret').toString('base64')}`)
    expect(path).toBe('/a/b?ticket=1')
  })
})

function readMessage(chunk: unknown): unknown {
  if (typeof chunk !== 'object' || chunk === null) return chunk
  return 'message' in chunk ? chunk.message : 'type' in chunk ? chunk.type : chunk
}

/** Returns the stream below a WebSocket. */
function readStream(socket: RawConnection['socket']): Duplex {
  // NOTE: `_socket` is private in ws, but only raw bytes can violate the WebSocket protocol.
  return (socket as unknown as { readonly _socket: Duplex })._socket
}

function fail(): never {
  throw new Error('Expected a value')
}
