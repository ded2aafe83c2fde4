/** [LC-M3] Tests that a call stops on abort, on timeout and when its reader stops. */
import { fakeClock } from '@tutti/testing'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { modelAt, PROVIDERS, REQUEST } from './providers.ts'

import type { ChatModel } from '@tutti/ensemble/adapter'

/** Reads until the call throws and returns the error; calls `onText` with each text. */
async function readUntilThrow(
  model: ChatModel,
  signal: AbortSignal,
  onText: (text: string) => void = () => undefined,
): Promise<unknown> {
  try {
    for await (const chunk of model.stream(REQUEST, { signal })) {
      if (chunk.type === 'text') onText(chunk.text)
    }
  } catch (error) {
    return error
  }
  throw new Error('Expected the call to throw')
}

const never = new Promise<never>(() => undefined)

describe.each(PROVIDERS)('$name', (provider) => {
  test('A call throws the reason and closes the request on abort during the stream', async () => {
    await using stub = await provider.stub([{ text: 'one two three', ending: 'hang' }])
    const controller = new AbortController()
    const reason = new Error('enough')
    const thrown = await readUntilThrow(modelAt(provider, stub), controller.signal, (text) => {
      if (text.includes('three')) controller.abort(reason)
    })
    expect(thrown).toBe(reason)
    expect(await (await stub.request(0)).ended).toBe('client_closed')
  })

  test('A call closes the request on abort before the first text', async () => {
    await using stub = await provider.stub([{ text: '', ending: 'hang' }])
    const controller = new AbortController()
    const thrown = readUntilThrow(modelAt(provider, stub), controller.signal)
    const request = await stub.request(0)
    controller.abort()
    expect(await thrown).toMatchObject({ name: 'AbortError' })
    expect(await request.ended).toBe('client_closed')
  })

  test('A call sends nothing when the signal is already aborted', async () => {
    await using stub = await provider.stub(['never'])
    const thrown = await readUntilThrow(modelAt(provider, stub), AbortSignal.abort())
    expect(thrown).toMatchObject({ name: 'AbortError' })
    expect(stub.requests).toHaveLength(0)
  })

  test('A call closes the request when the reader stops', async () => {
    await using stub = await provider.stub([{ text: 'one two three', ending: 'hang' }])
    const { signal } = new AbortController()
    for await (const chunk of modelAt(provider, stub).stream(REQUEST, { signal })) {
      if (chunk.type === 'text') break
    }
    expect(await (await stub.request(0)).ended).toBe('client_closed')
  })

  test('A call ends a hanging call at the timeout with a retryable failure', async () => {
    await using stub = await provider.stub([{ text: 'one two three', ending: 'hang' }, 'again'])
    const clock = fakeClock()
    const model = modelAt(provider, stub, { timeoutMs: 30_000, clock })
    const { signal } = new AbortController()
    const thrown = await readUntilThrow(model, signal, (text) => {
      if (text.includes('three')) void clock.advance(30_000)
    })
    expect(thrown).toMatchObject({
      code: 'MODEL_FAILED',
      retryable: true,
      message: `Cannot call ${provider.model}: no complete answer within 30000 ms`,
    })
    expect(await (await stub.request(0)).ended).toBe('client_closed')
    expect(stub.requests).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('A call leaves no timer after a call', async () => {
    await using stub = await provider.stub(['done'])
    const clock = fakeClock()
    const { signal } = new AbortController()
    const stream = modelAt(provider, stub, { timeoutMs: 30_000, clock }).stream(REQUEST, { signal })
    for await (const _chunk of stream) expect(clock.pending).toBe(1)
    expect(clock.pending).toBe(0)
  })
})

describe('a model that ignores its signal', () => {
  test('A model that ignores its signal does not keep the call from stopping', async () => {
    const controller = new AbortController()
    const model = langchainModel(() => never, { provider: 'own', name: 'stuck' })
    const thrown = readUntilThrow(model, controller.signal)
    controller.abort()
    expect(await thrown).toMatchObject({ name: 'AbortError' })
  })
})
