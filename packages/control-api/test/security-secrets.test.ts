import { redactor } from '@tutti/control-api/internal'
import { defineTool, toolCatalog, ToolResult, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer } from './open-server.ts'

const SECRET = 'sk-live-"quoted"-1234567890'
const secrets = redactor([SECRET])

describe('secrets', () => {
  it('Secrets are in no error body, over REST and WebSocket alike', async () => {
    await using api = await openServer({ redactor: secrets })
    const wrong = { ensemble: SECRET, inputs: { [SECRET]: 1 } }
    for (const body of [wrong, { ensemble: SECRET }]) {
      const text = await (await api.post('/api/runs', body)).text()
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('sk-live')
    }
    const path = `/api/runs/${encodeURIComponent(SECRET)}`
    expect(await (await api.get(path)).text()).not.toContain('sk-live')
    await using socket = api.connect()
    await socket.next('hello')
    socket.send({ type: 'run_request', ensemble: SECRET })
    expect((await socket.next('run_ack')).message).toBe(
      "Unknown ensemble '[redacted]'. Available: [band]",
    )
    await using refused = api.connect(`/${encodeURIComponent(SECRET)}`)
    expect(await refused.refused()).toBe(404)
  })

  it('Secrets are in no event from any source, while the agents still work with them', async () => {
    const given: unknown[] = []
    const login = defineTool({
      name: 'login',
      description: 'Logs in',
      input: Type.Object({ password: Type.String() }),
      execute: (input) => {
        given.push(input)
        return `Logged in with ${SECRET}`
      },
    })
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? `The password was ${SECRET}`
        : {
            text: `I use ${SECRET}`,
            toolCalls: [{ name: 'login', arguments: { password: SECRET } }],
          },
    )
    const enter = task({ name: 'enter', description: 'Enter {place}', tools: [login] })
    const thief = ensemble({ name: 'thief', tasks: [enter], model })
    await using api = await openServer({
      ensembles: [thief],
      redactor: secrets,
      limits: { redact: (event) => secrets.value(event) },
    })
    await api.post('/api/runs?wait=30', { runId: 'one', inputs: { place: 'x' } })
    const events = await eventsOf(await api.get('/api/runs/one/events'))
    expect(given).toEqual([{ password: SECRET }])
    const whole = events.filter(({ type }) => type !== 'token')
    const text = JSON.stringify(whole)
    expect(text).not.toContain('sk-live')
    expect(text).toContain('The password was [redacted]')
    expect(await (await api.get('/api/runs/one')).text()).toContain('The password was [redacted]')
    expect(events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
  })

  it('[GW-I6] Secrets are in no result of a direct tool call, over REST and WebSocket alike', async () => {
    const leak = defineTool({
      name: 'leak',
      description: 'Returns a secret',
      input: Type.Object({ how: Type.String() }),
      execute: ({ how }) => {
        if (how === 'throw') throw new Error(`Cannot use ${SECRET}`)
        return ToolResult.success(`Got ${SECRET}`, { token: SECRET })
      },
    })
    await using api = await openServer({ redactor: secrets, tools: toolCatalog([leak]) })
    for (const how of ['return', 'throw']) {
      const response = await api.post('/api/tools/leak/invoke', { input: { how } })
      const text = await response.text()
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('sk-live')
      await using socket = api.connect()
      await socket.next('hello')
      socket.send({
        type: 'tool_request',
        requestId: 'r',
        from: 'peer',
        tool: 'leak',
        input: `{"how":"${how}"}`,
      })
      const answer = JSON.stringify(await socket.next('tool_response'))
      expect(answer).toContain('[redacted]')
      expect(answer).not.toContain('sk-live')
    }
  })

  it('Secrets are in no inputs and tags that callers get, while the agents get them', async () => {
    const prompts: string[] = []
    const model = scriptedModel(({ messages }) => {
      prompts.push(JSON.stringify(messages))
      return 'Entered'
    })
    const enter = task({ name: 'enter', description: 'Enter with {key}' })
    await using api = await openServer({
      ensembles: [ensemble({ name: 'door', tasks: [enter], model })],
      redactor: secrets,
      limits: { redact: (event) => secrets.value(event) },
    })
    const run = { runId: 'one', inputs: { key: SECRET }, tags: { by: SECRET } }
    const shown = [await (await api.post('/api/runs?wait=30', run)).text()]
    for (const path of [
      '/api/runs',
      '/api/runs/one',
      '/api/runs/one/trace',
      '/api/runs/one/events',
    ]) {
      shown.push(await (await api.get(path)).text())
    }
    await using socket = api.connect()
    await socket.next('hello')
    for (const query of [{ query: 'runs' }, { query: 'run_detail', runId: 'one' }]) {
      socket.send({ type: 'state_query', requestId: query.query, ...query })
    }
    await expect
      .poll(() => socket.received.filter(({ type }) => type === 'state_response'))
      .toHaveLength(2)
    shown.push(JSON.stringify(socket.received))
    for (const text of shown) {
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('sk-live')
    }
    expect(prompts[0]).toContain('sk-live')
  })

  it('Secrets are in no shortened text, also if it would end within one', async () => {
    const enter = task({ name: 'enter', description: 'Enter with {key}', review: true })
    const fail = task({
      name: 'fail',
      description: 'Fail',
      handler: () => {
        throw new Error(`${'x'.repeat(290)}${SECRET}`)
      },
    })
    const model = scriptedModel(['Entered'])
    await using api = await openServer({
      ensembles: [
        ensemble({ name: 'door', tasks: [enter], model }),
        ensemble({ name: 'wall', tasks: [fail], model }),
      ],
      redactor: secrets,
    })
    const inputs = { key: `${'x'.repeat(190)}${SECRET}` }
    await api.post('/api/runs', { ensemble: 'door', inputs, tags: { by: SECRET } })
    await api.post('/api/runs?wait=30', { ensemble: 'wall' })
    const read = async (path: string) => (await api.get(path)).text()
    await expect.poll(() => read('/api/reviews')).toContain('"enter"')
    const [reviews, runs] = [await read('/api/reviews'), await read('/api/runs')]
    for (const text of [reviews, runs]) {
      expect(text).toContain('[redacted]')
      expect(text).not.toContain('sk-live')
    }
    // 190 of the 200 characters of an input are x.
    expect(reviews).toContain(`${'x'.repeat(190)}[redacted`)
  })
})
