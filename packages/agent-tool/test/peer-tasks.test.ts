import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { peerConnector } from '../src/peer/peer-connector.ts'
import { ask, heardOnce, peerCall, toPeer, until, updatesOf } from './peer-asking.ts'
import { peerServer } from './peer-server.ts'

import type { AgentConnector } from '@tutti/agent-call'

describe('a task of a peer', () => {
  it('is accepted, tells how it goes, and answers with the text of its last task', async () => {
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
    ['text as it is', 'Guten "Tag"', { text: 'Guten "Tag"' }],
    ['an object of its variables as their values', { text: 'Hi' }, { text: 'Hi' }],
    ['any other JSON as text', { a: [1, 'ü'] }, { text: '{"a":[1,"ü"]}' }],
  ])('takes %s', async (_title, input, inputs) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:echo', { from: 'kitchen' })
    await ask(connector, input)
    expect(await peer.list()).toMatchObject([{ inputs, tags: { peer: 'kitchen' } }])
  })

  it('may take 30 minutes unless its tool says otherwise, a tool of a peer no longer than others', () => {
    const url = 'wss://agents.example.com'
    expect(peerConnector({ url: `${url}#task:band` }).timeoutMs).toBe(1_800_000)
    expect(peerConnector({ url: `${url}#band` }).timeoutMs).toBe(1_800_000)
    expect(peerConnector({ url: `${url}#tool:shout` }).timeoutMs).toBeUndefined()
  })

  it('fails with the reason of the run', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:mute')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'agent_failed',
      retryable: false,
      message: expect.stringMatching(/^The task "mute" of the peer failed: .*No voice/s),
    })
  })

  it('shows that a person there is waited for', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:choir')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
    expect(await until(updates, 'task_progress')).toMatchObject({
      chunk: { status: 'WAITING_REVIEW', message: '"sing" is waiting for a review' },
    })
    const [open] = await peer.runs.openReviews()
    const { runId, reviewId } = open ?? expect.fail('no review is open')
    const decision = { action: 'CONTINUE' } as const
    await peer.runs.send(runId, { kind: 'decide', reviewId, decision })
    expect(await until(updates, 'task_progress')).toMatchObject({
      chunk: { percentComplete: 100 },
    })
    expect((await updates.next()).value).toMatchObject({ kind: 'end', output: 'Answer 1' })
    call.abort()
  })

  it('[P3] is cancelled there when the call is', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:band')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Bach' })[Symbol.asyncIterator]()
    await until(updates, 'task_accepted')
    await peer.waiting
    await session.cancel(new AbortController().signal)
    await peer.stopped
    call.abort()
    const [run] = await peer.list()
    await peer.ended(run?.runId ?? '')
    expect(await peer.list()).toMatchObject([{ status: 'CANCELLED' }])
  })

  it('[P3] is cancelled as soon as its run is known', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:choir')
    const call = peerCall()
    const session = await connector.connect(call)
    const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
    const first = updates.next()
    // The link is open, but the peer has not answered: both are on their way.
    await heardOnce(call)
    await session.cancel(new AbortController().signal)
    await first
    call.abort()
    for (const { runId } of await peer.list()) await peer.ended(runId)
    expect((await peer.list()).map(({ status }) => status)).not.toContain('COMPLETED')
  })

  it('[P4] that was cancelled from here is a new run when it is asked for again', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:choir')
    const ids: unknown[] = []
    for (let round = 0; round < 2; round += 1) {
      const call = peerCall({ idempotencyKey: 'call-1' })
      const session = await connector.connect(call)
      const updates = session.send({ index: 0, input: 'Ode' })[Symbol.asyncIterator]()
      const accepted = await until(updates, 'task_accepted')
      ids.push(accepted.kind === 'chunk' ? accepted.chunk : undefined)
      await session.cancel(new AbortController().signal)
      call.abort()
    }
    expect(await peer.list()).toHaveLength(2)
    expect(ids[0]).not.toEqual(ids[1])
  })

  it('[P4] that has failed is a new run when it is asked for again', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:mute')
    const idempotencyKey = 'call-1'
    for (let round = 0; round < 2; round += 1) {
      const call = peerCall({ idempotencyKey })
      await expect(updatesOf(await connector.connect(call))).rejects.toThrow('No voice')
      call.abort()
    }
    expect(await peer.list()).toHaveLength(2)
  })

  it('[P2] is one run when the same call is made again', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:echo')
    await using other = toPeer(peer, 'task:echo')
    const outputs = await Promise.all(
      [connector, connector, other].map(async (one) => {
        const call = peerCall({ idempotencyKey: 'call-1' })
        const updates = await updatesOf(await one.connect(call))
        call.abort()
        return updates.at(-1)
      }),
    )
    const answer = { kind: 'end', state: 'completed', output: 'Answer 1' }
    expect(outputs).toEqual([answer, answer, answer])
    expect(await peer.list()).toHaveLength(1)
    expect((await ask(connector)).at(-1)).toMatchObject({ output: 'Answer 2' })
  })

  it('[P2] of another input, turn, name or call is another run', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'task:echo')
    await using both = toPeer(peer, 'task:both')
    const made = async (one: AgentConnector, key: string, turn: object) => {
      const call = peerCall({ idempotencyKey: key })
      await updatesOf(await one.connect(call), turn)
      call.abort()
    }
    await made(connector, 'call-1', {})
    await made(connector, 'call-1', { input: 'Bye' })
    await made(connector, 'call-1', { index: 1 })
    await made(connector, 'call-2', {})
    await made(both, 'call-1', {})
    expect(await peer.list()).toHaveLength(5)
  })

  it('[P1] shares one connection with many calls at once, each with its own answer', async () => {
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
  ])('%s is called with %j', async (name, input, output) => {
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
  ])('%s fails for %j as the peer says it', async (name, input, failure) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, `tool:${name}`)
    await expect(ask(connector, input)).rejects.toMatchObject({ retryable: false, ...failure })
  })

  it('may be asked again when the peer has too many calls in flight', async () => {
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

  it('[P3] is cancelled with its connection when nobody else uses it', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'tool:wait')
    const call = peerCall()
    const session = await connector.connect(call)
    const end = updatesOf(session)
    await peer.waiting
    await session.cancel(new AbortController().signal)
    await expect(end).rejects.toThrow('closed by this side')
    await peer.stopped
    call.abort()
  })

  it('[P3] is cancelled when the other calls of its connection are done', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'tool:wait')
    const [stays, goes] = [peerCall(), peerCall()]
    const staying = updatesOf(await connector.connect(stays))
    await peer.waiting
    const session = await connector.connect(goes)
    const going = expect(updatesOf(session, { input: 'forever' })).rejects.toBe('Enough')
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
  ])('%s is what the peer says that it is', async (name, output) => {
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
  ])('%s that says nothing is a fault of the configuration', async (name, message) => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, name)
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'configuration',
      retryable: false,
      message,
    })
  })

  it('is what the options say', async () => {
    await using peer = await peerServer()
    await using connector = toPeer(peer, 'both', { kind: 'tool' })
    expect(await ask(connector)).toMatchObject([{ output: 'Hello' }])
  })
})

describe('the key of a peer', () => {
  const keys = [apiKey('a-key-for-kitchens', { name: 'kitchen', scopes: ['runs:read'] })]

  it('goes with the handshake, and what it may not do is told', async () => {
    await using peer = await peerServer({ apiKeys: keys })
    await using connector = toPeer(peer, 'task:echo', {
      headers: { authorization: 'Bearer a-key-for-kitchens' },
    })
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'configuration',
      message: expect.stringMatching(/FORBIDDEN: Key "kitchen" lacks the scope runs:write/),
    })
  })

  it('that is missing is an HTTP error which quotes the answer', async () => {
    await using peer = await peerServer({ apiKeys: keys })
    await using connector = toPeer(peer, 'task:echo')
    await expect(ask(connector)).rejects.toMatchObject({
      failureType: 'http_error',
      retryable: false,
      message: expect.stringMatching(/^Agent returned error 401 Unauthorized: .*UNAUTHORIZED/s),
    })
  })

  it('may be a user and password in the address, which is shown nowhere', async () => {
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
