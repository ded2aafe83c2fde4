/** Tests of tools that the client of a run executes. */
import { defineTool, Type, TuttiError, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type ClientTool, type Ensemble, type RunReviewer } from '../src/index.ts'
import { joinRuns, startRecorded, type RunProcess } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { nextTurn } from './watch-run.ts'

const weather: ClientTool = {
  name: 'get_weather',
  description: 'Returns the weather of a city',
  inputSchema: Type.Object({ city: Type.String(), days: Type.Optional(Type.Integer()) }),
}

/** Calls `get_weather` for each city in one turn, then answers with the results. */
function forecaster(...cities: readonly object[]) {
  return scriptedModel(({ messages }) => {
    const results = messages.flatMap((one) => (one.role === 'tool' ? [one.content] : []))
    if (results.length > 0) return results.join(' | ')
    return {
      toolCalls: cities.map((input, index) => ({
        id: `call-${index}`,
        name: 'get_weather',
        arguments: input,
      })),
    }
  })
}

type Model = ReturnType<typeof scriptedModel>

function team(model: Model, settings: { maxConcurrentToolCalls?: number } = {}): Ensemble {
  return ensemble({
    name: 'team',
    model,
    tasks: [task({ name: 'ask', description: 'Forecast' })],
    ...settings,
  })
}

/** Returns the ids of the open reviews, in the order of the calls. */
function openIds({ handle }: RunProcess): readonly string[] {
  return handle.snapshot().reviews.map(({ reviewId }) => reviewId)
}

describe('client tools', () => {
  it('[ENS-K1] [ENS-K2] Client tools open a review with the input, whose answer is the result', async () => {
    const model = forecaster({ city: 'Bonn', days: '2' })
    const run = startRecorded(team(model), { clientTools: [weather] })
    await nextTurn()
    expect(model.requests[0]?.tools).toEqual([
      expect.objectContaining({ name: 'get_weather', inputSchema: weather.inputSchema }),
    ])
    const requested = run.events.find(({ type }) => type === 'review_requested')
    expect(requested).toMatchObject({
      kind: 'CLIENT_TOOL',
      timing: 'DURING_EXECUTION',
      toolName: 'get_weather',
      toolCallId: 'call-0',
      toolInput: { city: 'Bonn', days: 2 },
      timeoutMs: 86_400_000,
      onTimeout: 'FAIL',
    })
    expect(run.waits.count).toBe(1)
    await run.handle.decide(openIds(run)[0] ?? '', { action: 'EDIT', input: '{"t": 1.0}' })
    expect(await run.handle.result).toMatchObject({ status: 'COMPLETED', output: '{"t": 1.0}' })
  })

  it('[ENS-K1] Client tools are those of the tasks of items, too, whose own tools cannot have their names', async () => {
    const forecast = (tools: readonly AgentTool[]) =>
      ensemble({
        name: 'each',
        model: forecaster({ city: 'Bonn' }),
        tasks: [
          task({ name: 'ask', description: 'Forecast {item}', tools, forEach: { over: 'cities' } }),
        ],
      })
    const inputs = { cities: '["Bonn"]' }
    const reviewer: RunReviewer = { decide: async () => ({ action: 'EDIT', input: '1.0' }) }
    const settings = { clientTools: [weather], reviewer }
    const result = await forecast([]).run(inputs, settings)
    expect(result.output).toBe('["1.0"]')
    const taken = defineTool({
      name: 'get_weather',
      description: 'x',
      input: Type.Object({}),
      execute: () => 'x',
    })
    await expect(forecast([taken]).run(inputs, settings)).rejects.toThrow('get_weather')
  })

  it('[ENS-K1] Client tools are those of the agents of sub-ensembles, too, whose own tools cannot have their names', async () => {
    const forecast = (tools: readonly AgentTool[]) => {
      const ask = task({ name: 'ask', description: 'Forecast', tools })
      const inner = ensemble({
        name: 'inner',
        model: forecaster({ city: 'Bonn' }),
        tasks: [ask],
      })
      return ensemble({ name: 'outer', tasks: [task({ name: 'plan', ensemble: inner })] })
    }
    const reviewer: RunReviewer = { decide: async () => ({ action: 'EDIT', input: '1.0' }) }
    const settings = { clientTools: [weather], reviewer }
    const result = await forecast([]).run({}, settings)
    expect(result.output).toBe('1.0')
    const taken = defineTool({
      name: 'get_weather',
      description: 'x',
      input: Type.Object({}),
      execute: () => 'x',
    })
    await expect(forecast([taken]).run({}, settings)).rejects.toThrow(
      'must not be "get_weather", which is a tool of task "plan/ask"',
    )
  })

  it('[ENS-K2] Client tools take a value from a reviewer of the same process', async () => {
    const result = await team(forecaster({ city: 'Bonn' })).run(
      {},
      {
        clientTools: [weather],
        reviewer: { decide: async () => ({ action: 'EDIT', input: { sky: 'grey' } }) },
      },
    )
    expect(result.output).toBe('{"sky":"grey"}')
  })

  it('[ENS-K2] Client tools report the error of the client as a failed call', async () => {
    const model = forecaster({ city: 'Bonn' })
    const run = startRecorded(team(model), { clientTools: [weather] })
    await nextTurn()
    await run.handle.decide(openIds(run)[0] ?? '', { action: 'REJECT', feedback: 'offline' })
    const { output } = await run.handle.result
    expect(output).toContain('The client could not execute the call of "get_weather": offline')
  })

  it('[ENS-K2] Client tools cannot continue without an answer', async () => {
    const run = startRecorded(team(forecaster({ city: 'Bonn' })), { clientTools: [weather] })
    await nextTurn()
    await expect(
      run.handle.decide(openIds(run)[0] ?? '', { action: 'CONTINUE' }),
    ).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('a call of a client tool needs its result'),
    })
    expect(openIds(run)).toHaveLength(1)
    run.release()
  })

  it('Client tools do not ask the client about invalid input', async () => {
    const model = forecaster({ town: 'Bonn' })
    const run = startRecorded(team(model), { clientTools: [weather] })
    const { output } = await run.handle.result
    expect(output).toContain('city')
    expect(run.events.filter(({ type }) => type === 'review_requested')).toEqual([])
  })

  it('[ENS-K3] Client tools wait for all calls of a turn at once, and for another slot never', async () => {
    const model = forecaster({ city: 'Bonn' }, { city: 'Ulm' }, { city: 'Kiel' })
    const process = team(model, { maxConcurrentToolCalls: 1 })
    const run = startRecorded(process, { clientTools: [weather] })
    await nextTurn()
    const ids = openIds(run)
    expect(ids).toHaveLength(3)
    for (const [index, id] of ids.toReversed().entries()) {
      await run.handle.decide(id, { action: 'EDIT', input: `sun ${index}` })
    }
    expect((await run.handle.result).output).toBe('sun 2 | sun 1 | sun 0')
  })

  it('[ENS-K4] Client tools fail a call that is not answered in time', async () => {
    const tool = { ...weather, timeoutMs: 5_000 }
    const run = startRecorded(team(forecaster({ city: 'Bonn' })), { clientTools: [tool] })
    await nextTurn()
    await run.clock.advance(5_000)
    const { output, status } = await run.handle.result
    expect([status, output]).toEqual(['COMPLETED', expect.stringContaining('within 5000 ms')])
  })

  it('[ENS-G6] Client tools continue after a crash with the same open call, and the answer counts once', async () => {
    const before = startRecorded(team(forecaster({ city: 'Bonn' }, { city: 'Ulm' })), {
      clientTools: [weather],
    })
    await nextTurn()
    const [first = '', second = ''] = openIds(before)
    await before.handle.decide(first, { action: 'EDIT', input: 'rain' })
    before.release()
    const model = forecaster({ city: 'Bonn' }, { city: 'Ulm' })
    const after = startRecorded(team(model), { clientTools: [weather], from: before })
    await nextTurn()
    expect(openIds(after)).toEqual([second])
    await after.handle.decide(second, { action: 'EDIT', input: 'snow' })
    expect((await after.handle.result).output).toBe('rain | snow')
    expect(model.requests).toHaveLength(1)
    const { events } = joinRuns(before, after)
    expect(events.filter(({ type }) => type === 'review_requested')).toHaveLength(2)
    expect(events.filter(({ type }) => type === 'review_decided')).toHaveLength(2)
  })

  it('Client tools are refused when their names are taken or their definitions are invalid', async () => {
    const own = defineTool({
      name: 'get_weather',
      description: 'Own',
      input: Type.Object({}),
      execute: () => 'own',
    })
    const model = scriptedModel(() => 'x')
    const busy = ensemble({
      name: 'busy',
      model,
      tasks: [task({ name: 'ask', description: 'Forecast', tools: [own] })],
    })
    const run = busy.run(
      {},
      {
        clientTools: [
          weather,
          { ...weather, name: 'a b' },
          { ...weather, name: 'twice' },
          { ...weather, name: 'twice' },
          { ...weather, name: 'delegate_task' },
          { ...weather, name: 'list', inputSchema: Type.Array(Type.String()) },
        ],
      },
    )
    await expect(run).rejects.toSatisfy((error) => {
      expect(TuttiError.isInstance(error) && error.code).toBe('CONFIG_INVALID')
      const { message } = error as TuttiError
      for (const part of [
        'clientTools/0/name must not be "get_weather", which is a tool of task "ask"',
        'clientTools/1 is invalid: Cannot define tool "a b": name must be',
        'clientTools/3/name must be unique, got "twice" again',
        'clientTools/4/name must not be "delegate_task"',
        'clientTools/5 is invalid',
        'clientTools cannot be answered: set the option reviewer, or use start',
      ]) {
        expect(message).toContain(part)
      }
      return true
    })
  })

  it('Client tools are refused by an ensemble without agents', async () => {
    const files = ensemble({
      name: 'files',
      tasks: [task({ name: 'file', description: 'File', handler: () => 'filed' })],
    })
    expect(() => files.start({}, { clientTools: [weather] })).toThrow(
      'clientTools cannot be called: "files" has no task with an agent',
    )
  })
})
