import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { peerConnector } from '../src/connector/index.ts'
import { ask, waitForBytes, peerCall, toPeer, readUntil, collectUpdates } from './peer-calls.ts'
import { peerServer } from '../../agent-tool/test/peer-server.ts'

import type { AgentConnector } from '@tutti/agent-call/internal'

describe('a task of a peer', () => {
  it('A task of a peer is accepted, reports progress and answers with the text of its last task', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:band')
    peer.play()
    const updates = await ask(connector, 'Bach')
    const requestId = expect.stringMatching(/^tutti-[\w-]{43}$/)
    const runId = (await peer.list())[0]?.runId
    expect(updates).toEqual([
      {
        kind: 'chunk',
        chunk: { type: 'task_accepted', requestId, runId, queuePosition: expect.any(Number) },
      },
      {
        kind: 'chunk',
        chunk: {
          type: 'task_progress',
          requestId,
          status: 'RUNNING',
          message: '"tune" completed: 1 of 2',
          percentComplete: 50,
        },
      },
      { kind: 'chunk', chunk: expect.objectContaining({ percentComplete: 100 }) },
      { kind: 'end', state: 'completed', output: 'It was played in full' },
    ])
    expect(connector.protocol).toBe('ensemble')
  })

  it.each<[string, unknown, object]>([
    ['text unchanged', 'Guten "Tag"', { text: 'Guten "Tag"' }],
    ['an object with its variables as their values', { text: 'Hi' }, { text: 'Hi' }],
    ['any other JSON as text', { a: [1, 'ü'] }, { text: '{"a":[1,"ü"]}' }],
  ])('A task of a peer takes %s', async (_title, input, inputs) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:echo', { from: 'kitchen' })
    await ask(connector, input)
    expect(await peer.list()).toMatchObject([{ inputs, tags: { peer: 'kitchen' } }])
  })

  it('A task of a peer has a default timeout of 30 minutes, unlike a tool of a peer', () => {
    const url = 'wss://agents.example.com'
    expect(peerConnector({ url: `${url}#task:band` }).timeoutMs).toBe(1_800_000)
    expect(peerConnector({ url: `${url}#band` }).timeoutMs).toBe(1_800_000)
    expect(peerConnector({ url: `${url}#tool:shout` }).timeoutMs).toBeUndefined()
  })

  it('A task of a peer fails with the reason of the run', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:mute')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: expect.stringMatching(/^The task "mute" of the peer failed: .*No voice/s),
    })
  })

  it('A task of a peer reports that it waits for a review', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:choir')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
    expect(await readUntil(updates, 'task_progress')).toMatchObject({
      chunk: { status: 'WAITING_REVIEW', message: '"sing" is waiting for a review' },
    })
    const [open] = await peer.runs.reviews.open()
    const { runId, reviewId } = open ?? expect.fail('Expected an open review')
    const decision = { action: 'CONTINUE' } as const
    await peer.runs.send(runId, { kind: 'decide', reviewId, decision })
    expect(await readUntil(updates, 'task_progress')).toMatchObject({
      chunk: { percentComplete: 100 },
    })
    expect((await updates.next()).value).toMatchObject({ kind: 'end', output: 'Answer 1' })
    call.abort()
  })

  it('[AE-P3] A task of a peer is cancelled on the peer when the call is cancelled', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:band')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Bach' })[Symbol.asyncIterator]()
    await readUntil(updates, 'task_accepted')
    await peer.waiting
    await session.cancel(new AbortController().signal)
    await peer.stopped
    call.abort()
    const [run] = await peer.list()
    await peer.ended(run?.runId ?? '')
    expect(await peer.list()).toMatchObject([{ status: 'CANCELLED' }])
  })

  it('[AE-P3] A task of a peer is cancelled as soon as its run is known', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:choir')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
    const first = updates.next()
    // The connection is open, but the run id has not arrived yet.
    await waitForBytes(call)
    await session.cancel(new AbortController().signal)
    await first
    call.abort()
    for (const { runId } of await peer.list()) await peer.ended(runId)
    expect((await peer.list()).map(({ status }) => status)).not.toContain('COMPLETED')
  })

  it('[AE-P4] A task of a peer starts a new run when it is requested again after a cancel', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:choir')
    const ids: unknown[] = []
    for (let round = 0; round < 2; round += 1) {
      const call = peerCall({ idempotencyKey: 'call-1' })
      const session = await connector.connect(call)
      const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
      const accepted = await readUntil(updates, 'task_accepted')
      ids.push(accepted.kind === 'chunk' ? accepted.chunk : undefined)
      await session.cancel(new AbortController().signal)
      call.abort()
    }
    expect(await peer.list()).toHaveLength(2)
    expect(ids[0]).not.toEqual(ids[1])
  })

  it('[AE-P4] A task of a peer starts a new run when it is requested again after a failure', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:mute')
    const idempotencyKey = 'call-1'
    for (let round = 0; round < 2; round += 1) {
      const call = peerCall({ idempotencyKey })
      await expect(collectUpdates(await connector.connect(call))).rejects.toThrow('No voice')
      call.abort()
    }
    expect(await peer.list()).toHaveLength(2)
  })

  it('[AE-P2] A task of a peer is one run when the same call is repeated', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:echo')
    await using other = toPeer(peer, 'task:echo')
    const outputs = await Promise.all(
      [connector, connector, other].map(async (one) => {
        const call = peerCall({ idempotencyKey: 'call-1' })
        const updates = await collectUpdates(await one.connect(call))
        call.abort()
        return updates.at(-1)
      }),
    )
    const answer = { kind: 'end', state: 'completed', output: 'Answer 1' }
    expect(outputs).toEqual([answer, answer, answer])
    expect(await peer.list()).toHaveLength(1)
    expect((await ask(connector)).at(-1)).toMatchObject({ output: 'Answer 2' })
  })

  it('[AE-P2] A task of a peer is another run for another input, turn, name or call', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:echo')
    await using both = toPeer(peer, 'task:both')
    const send = async (one: AgentConnector, key: string, turn: object) => {
      const call = peerCall({ idempotencyKey: key })
      await collectUpdates(await one.connect(call), turn)
      call.abort()
    }
    await send(connector, 'call-1', {})
    await send(connector, 'call-1', { input: 'Bye' })
    await send(connector, 'call-1', { index: 1 })
    await send(connector, 'call-2', {})
    await send(both, 'call-1', {})
    expect(await peer.list()).toHaveLength(5)
  })

  it('[AE-P1] A task of a peer shares one connection between concurrent calls and assigns their answers', async () => {
    await using peer = await peerServer()
    let handshakes = 0
    await using connector = toPeer(peer, 'tool:shout', {
      headers: () => {
        handshakes += 1
        return {}
      },
    })
    const words = Array.from({ length: 12 }, (_, index) => `word-${index}`)
    const ends = await Promise.all(words.map((word) => ask(connector, word)))
    expect(ends.map((updates) => updates.at(-1))).toEqual(
      words.map((word) => ({
        kind: 'end',
        state: 'completed',
        output: `${word.toUpperCase()}!`,
      })),
    )
    expect(handshakes).toBe(1)
  })
})

describe('a tool of a peer', () => {
  it.each<[string, unknown, string]>([
    ['shout', 'hey', 'HEY!'],
    ['add', { a: 1, b: 2 }, '3'],
  ])('The peer tool %s answers a call with %j', async (name, input, output) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, `tool:${name}`)
    expect(await ask(connector, input)).toEqual([{ kind: 'end', state: 'completed', output }])
  })

  it.each<[string, unknown, object]>([
    [
      'shout',
      'fail',
      { failureType: 'agent_failed', message: 'The tool "shout" of the peer failed: No voice' },
    ],
    [
      'add',
      { a: 1 },
      { failureType: 'agent_failed', message: expect.stringMatching(/BAD_REQUEST: .*\/input\/b/s) },
    ],
    ['tune', 'a', { failureType: 'configuration', message: expect.stringMatching(/FORBIDDEN: /) }],
    [
      'shut',
      'a',
      {
        failureType: 'configuration',
        message: expect.stringMatching(/Unknown tool 'shut'.*shout.*Did you mean 'shout'/s),
      },
    ],
  ])('The peer tool %s fails for %j with the error of the peer', async (name, input, failure) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, `tool:${name}`)
    await expect(ask(connector, input)).rejects.toMatchObject({ retryable: false, ...failure })
  })

  it('A tool of a peer fails as retryable when the peer has too many calls in flight', async () => {
    await using peer = await peerServer({ maxToolCalls: 1 })
    await using connector = toPeer(peer, 'tool:wait')
    const first = ask(connector)
    await peer.waiting
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'agent_failed',
      retryable: true,
      message: expect.stringContaining('CONCURRENCY_LIMIT'),
    })
    peer.play()
    expect(await first).toMatchObject([{ output: 'Waited' }])
  })

  it('[AE-P3] A tool of a peer is cancelled by closing its connection when no other call uses it', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'tool:wait')
    const call = peerCall()
    const session = await connector.connect(call)
    const end = collectUpdates(session)
    await peer.waiting
    await session.cancel(new AbortController().signal)
    await expect(end).rejects.toThrow('closed by this side')
    await peer.stopped
    call.abort()
  })

  it('[AE-P3] A tool of a peer is cancelled when the other calls on its connection have ended', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'tool:wait')
    const [stays, goes] = [peerCall(), peerCall()]
    const staying = collectUpdates(await connector.connect(stays))
    await peer.waiting
    const session = await connector.connect(goes)
    const going = expect(collectUpdates(session, { input: 'forever' })).rejects.toBe('Enough')
    await peer.waitingForever
    await session.cancel(new AbortController().signal)
    goes.abort('Enough')
    await going
    peer.play()
    expect(await staying).toMatchObject([{ output: 'Waited' }])
    await peer.stopped
    expect(await ask(connector)).toMatchObject([{ output: 'Waited' }])
  })
})

describe('a name without a kind', () => {
  it.each([
    ['echo', 'Answer 1'],
    ['shout', 'HELLO!'],
  ])('The name %s is resolved with the capabilities of the peer', async (name, output) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, name)
    expect((await ask(connector)).at(-1)).toMatchObject({ kind: 'end', output })
    expect((await ask(connector)).at(-1)).toMatchObject({ kind: 'end' })
  })

  it.each([
    [
      'ecco',
      'The peer does not share "ecco"; tasks: [echo, mute, both, band, choir], tools: [shout, add, tune, both, wait]. Did you mean "echo"?',
    ],
    ['both', 'The peer shares a task and a tool "both": use #task:both or #tool:both'],
  ])(
    'The name %s fails as a configuration error when it is unknown or ambiguous',
    async (name, message) => {
      await using peer = await peerServer()
      await using connector = toPeer(peer, name)
      await expect(ask(connector)).rejects.toMatchObject({
        failureType: 'configuration',
        retryable: false,
        message,
      })
    },
  )

  it('A name without a kind is resolved with the option kind', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'both', { kind: 'tool' })
    expect(await ask(connector)).toMatchObject([{ output: 'Hello' }])
  })
})

describe('credentials of a peer', () => {
  const keys = [apiKey('a-key-for-kitchens', { name: 'kitchen', scopes: ['runs:read'] })]

  it('Credentials of a peer are sent with the handshake, and missing scopes are reported', async () => {
    await using peer = await peerServer({ apiKeys: keys })
    await using connector = toPeer(peer, 'task:echo', {
      headers: { authorization: 'Bearer a-key-for-kitchens' },
    })
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'configuration',
      message: expect.stringMatching(/FORBIDDEN: Key "kitchen" lacks the scope runs:write/),
    })
  })

  it('Credentials of a peer that are missing cause an HTTP error with the response body', async () => {
    await using peer = await peerServer({ apiKeys: keys })
    await using connector = toPeer(peer, 'task:echo')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'http_error',
      retryable: false,
      message: expect.stringMatching(/^Agent returned error 401 Unauthorized: .*UNAUTHORIZED/s),
    })
  })

  it('Credentials of a peer can be part of the address and are never shown', async () => {
    await using peer = await peerServer()
    const seen: string[] = []
    const connector = peerConnector({
      url: `${peer.url.replace('//', '//me:s%20cret@')}?ticket=hidden#task:echo`,
    })
    seen.push(connector.uri)
    expect((await ask(connector)).at(-1)).toMatchObject({ kind: 'end' })
    await connector.close?.()
    expect(seen.join('')).toBe(`${peer.url}/#task:echo`)
  })
})
