import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { reviewedTask, approvedTool } from './reviewed-ensembles.ts'
import { connectClient, MODES, runIdOf, textOf, type Form } from './mcp-client.ts'
import { openServer, type TestServer } from './open-server.ts'

import type { ElicitResult } from '@modelcontextprotocol/client'

/** A person who answers forms in order, and records them. */
function person(...answers: readonly (ElicitResult | Promise<ElicitResult>)[]) {
  const forms: Form[] = []
  const first = Promise.withResolvers<void>()
  return {
    forms,
    /** Resolves when the first form is shown. */
    asked: first.promise,
    fill: async (form: Form): Promise<ElicitResult> => {
      forms.push(form)
      first.resolve()
      return answers[forms.length - 1] ?? { action: 'cancel' }
    },
  }
}

function accept(decision: string, text?: string): ElicitResult {
  return { action: 'accept', content: { decision, ...(text === undefined ? {} : { text }) } }
}

async function decide(api: TestServer, decision: object): Promise<void> {
  const { reviews } = (await (await api.get('/api/reviews')).json()) as {
    reviews: readonly { reviewId: string }[]
  }
  expect(reviews).toHaveLength(1)
  const { status } = await api.post(`/api/reviews/${reviews[0]?.reviewId}`, decision)
  expect(status).toBe(200)
}

describe.each(MODES)('a review of a run called over MCP, with a client of mode %s', (mode) => {
  it('A review of a run called over MCP is shown as a form, and the answer decides it in the same run', async () => {
    const { forms, fill } = person(accept('CONTINUE'))
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, { mode, fill })
    const result = await peer.call('choir', { song: 'Ave' })
    expect(textOf(result)).toBe('La la')
    expect(forms).toHaveLength(1)
    expect(forms[0]?.message).toMatch(/Is it in tune\?[^]*Sing Ave[^]*La la/)
    const { runs } = await api.runs.list({ limit: 10, offset: 0 })
    expect(runs.map(({ runId }) => runId)).toEqual([runIdOf(result)])
    const heard = peer.notes.map(({ message }) => message)
    expect(heard.filter((message) => message === '"sing" started')).toHaveLength(1)
    expect(heard.at(-1)).toBe('"sing" completed: 1 of 1')
  })

  it('A review of a run called over MCP can replace the output', async () => {
    const { fill } = person(accept('EDIT', 'Do re mi'))
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, { mode, fill })
    expect(textOf(await peer.call('choir', { song: 'Ave' }))).toBe('Do re mi')
  })

  it('A review of a run called over MCP is asked again after the work was sent back', async () => {
    const { forms, fill } = person(accept('REJECT', 'Louder'), accept('CONTINUE'))
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, { mode, fill })
    expect(textOf(await peer.call('choir', { song: 'Ave' }))).toBe('La la')
    expect(forms).toHaveLength(2)
  })

  it('[GW-Q2] A review of a run called over MCP is asked again with the reason when the answer is invalid', async () => {
    const { forms, fill } = person(
      accept('EDIT', 'not JSON'),
      accept('EDIT', '{"hertz":"high"}'),
      accept('EDIT', '{"hertz":432}'),
    )
    await using api = await openServer({ ensembles: [approvedTool()] })
    await using peer = await connectClient(api, { mode, fill })
    expect(textOf(await peer.call('soloist', { song: 'Ave' }))).toContain('Tuned to 432')
    expect(forms.map(({ message }) => message)).toEqual([
      expect.stringContaining('{"hertz":440}'),
      expect.stringMatching(/was not accepted.*must be the input of the tool as JSON/),
      expect.stringMatching(/not accepted.*hertz/),
    ])
  })

  it('[GW-Q3] A review of a run called over MCP stays open for others when the person declines, and is not asked again', async () => {
    const { forms, fill, asked } = person({ action: 'decline' })
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, { mode, fill })
    const call = peer.call('choir', { song: 'Ave' })
    await peer.heard('is waiting for a review: decide it with POST /api/reviews/')
    await asked
    await decide(api, { decision: 'EDIT', revisedOutput: 'Hum' })
    expect(textOf(await call)).toBe('Hum')
    expect(forms).toHaveLength(1)
  })

  it('A review of a run called over MCP is reported to a client without forms, and stays open', async () => {
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, { mode })
    const call = peer.call('choir', { song: 'Ave' })
    await peer.heard('is waiting for a review: decide it with POST /api/reviews/')
    await decide(api, { decision: 'CONTINUE' })
    expect(textOf(await call)).toBe('La la')
  })

  it('[GW-Q1] A review of a run called over MCP is decided by the first answer', async () => {
    const late = Promise.withResolvers<ElicitResult>()
    const { fill, asked } = person(late.promise)
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, { mode, fill })
    const call = peer.call('choir', { song: 'Ave' })
    await asked
    await decide(api, { decision: 'EDIT', revisedOutput: 'Hum' })
    late.resolve(accept('EDIT', 'Too late'))
    expect(textOf(await call)).toBe('Hum')
    expect(api.errors).toEqual([])
  })
})

/** Ensemble whose first task is reviewed, and whose second waits for the test. */
function duet() {
  const gate = Promise.withResolvers<string>()
  const sing = task({ name: 'sing', description: 'Sing', review: {} })
  const hold = task({ name: 'hold', description: 'Hold', handler: () => gate.promise })
  const model = scriptedModel(() => 'La la')
  return { both: ensemble({ name: 'duet', tasks: [sing, hold], model }), finish: gate.resolve }
}

/** Creates a handler that waits until its form is withdrawn. */
function createUndecidedHandler() {
  const shown = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const fill = ({ signal }: Form): Promise<ElicitResult> =>
    new Promise((_resolve, reject) => {
      shown.resolve()
      signal.addEventListener('abort', () => {
        gone.resolve()
        reject(new Error('Taken back'))
      })
    })
  return { fill, shown: shown.promise, gone: gone.promise }
}

describe('a review that an older client was asked to decide', () => {
  it('[GW-Q1] A review that an older client was asked to decide withdraws its question when another caller decides, while the run continues', async () => {
    const { fill, shown, gone } = createUndecidedHandler()
    const { both, finish } = duet()
    await using api = await openServer({ ensembles: [both] })
    await using peer = await connectClient(api, {
      mode: 'legacy',
      fill,
    })
    const call = peer.call('duet')
    await shown
    await decide(api, { decision: 'CONTINUE' })
    await gone
    finish('Held')
    expect(textOf(await call)).toBe('Held')
  })

  it('[GW-Q1] A review that an older client was asked to decide withdraws its question when the call is cancelled', async () => {
    const { fill, shown, gone } = createUndecidedHandler()
    await using api = await openServer({ ensembles: [reviewedTask()] })
    await using peer = await connectClient(api, {
      mode: 'legacy',
      fill,
    })
    const patience = new AbortController()
    const call = peer.call('choir', { song: 'Ave' }, patience.signal)
    await shown
    patience.abort()
    await expect(call).rejects.toThrow('abort')
    await gone
  })

  it('A review that an older client was asked to decide is asked once, also when other reviews of the run are open', async () => {
    const forms: string[] = []
    const both = Promise.withResolvers<void>()
    const one = Promise.withResolvers<void>()
    const alto = task({ name: 'alto', description: 'Sing high', review: {} })
    const bass = task({
      name: 'bass',
      description: 'Sing low',
      review: {},
      handler: async () => {
        await one.promise
        return 'Lo lo'
      },
    })
    const model = scriptedModel(() => 'La la')
    const trio = ensemble({ name: 'trio', tasks: [alto, bass], workflow: 'PARALLEL', model })
    await using api = await openServer({ ensembles: [trio] })
    await using peer = await connectClient(api, {
      mode: 'legacy',
      fill: async ({ message }) => {
        forms.push(/Task "(\w+)"/.exec(message)?.[1] ?? '')
        one.resolve()
        if (forms.length === 2) both.resolve()
        await both.promise
        return accept('CONTINUE')
      },
    })
    expect(await peer.call('trio')).toMatchObject({ structuredContent: { status: 'COMPLETED' } })
    expect(forms.toSorted()).toEqual(['alto', 'bass'])
  })

  it('A review that an older client was asked to decide stays open for others when the client keeps sending invalid answers automatically', async () => {
    let asked = 0
    const often = Promise.withResolvers<void>()
    await using api = await openServer({ ensembles: [approvedTool()] })
    await using peer = await connectClient(api, {
      mode: 'legacy',
      fill: () => {
        asked += 1
        if (asked === 5) often.resolve()
        return accept('EDIT', 'not JSON')
      },
    })
    const call = peer.call('soloist', { song: 'Ave' })
    await often.promise
    await decide(api, { decision: 'CONTINUE' })
    expect(textOf(await call)).toContain('Tuned to 440')
    expect(asked).toBe(5)
  })
})
