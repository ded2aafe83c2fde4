/** Tests an ensemble of two tasks with a tool, end to end over the wire protocol of each provider. */
import { defineTool, Type } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { describe, expect, test } from 'vitest'

import { modelAt, PROVIDERS } from './providers.ts'

import type { StubReply } from '../src/testing/index.ts'

const toolInputs: { readonly city: string; readonly days: number }[] = []

const forecast = defineTool({
  name: 'forecast',
  description: 'Forecasts the weather of a city',
  input: Type.Object({ city: Type.String(), days: Type.Integer({ minimum: 1 }) }),
  execute(input) {
    toolInputs.push(input)
    return `${input.city}: sun for ${input.days} days`
  },
})

const SCRIPT: readonly StubReply[] = [
  {
    text: 'I look it up.',
    toolCalls: [{ id: 'call-1', name: 'forecast', arguments: { city: 'Köln 🌤', days: 0 } }],
    usage: { inputTokens: 100, outputTokens: 10 },
  },
  {
    toolCalls: [{ id: 'call-2', name: 'forecast', arguments: { city: 'Köln 🌤', days: 2 } }],
    usage: { inputTokens: 120, outputTokens: 11 },
  },
  { text: 'Two days of sun in Köln.', usage: { inputTokens: 140, outputTokens: 12 } },
  { text: 'Pack sunglasses.', usage: { inputTokens: 50, outputTokens: 13 } },
]

describe.each(PROVIDERS)('$name', (provider) => {
  test('An ensemble streams tokens, corrects a tool call and counts usage', async () => {
    toolInputs.length = 0
    await using stub = await provider.stub(SCRIPT)
    const look = task({
      name: 'look',
      description: 'Find the weather in {city}',
      tools: [forecast],
    })
    const pack = task({ name: 'pack', description: 'Say what to pack', context: [look] })
    const trip = ensemble({ name: 'trip', tasks: [look, pack], model: modelAt(provider, stub) })
    const tokens: string[] = []
    const result = await trip.run(
      { city: 'Köln' },
      {
        onEvent(event) {
          if (event.type === 'token') tokens.push(event.token)
        },
      },
    )
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'Pack sunglasses.' })
    expect(result.metrics).toEqual({ totalTokens: 456, totalToolCalls: 2 })
    expect(tokens.join('')).toBe('I look it up.Two days of sun in Köln.Pack sunglasses.')
    expect(tokens.length).toBeGreaterThan(6)
    expect(toolInputs).toEqual([{ city: 'Köln 🌤', days: 2 }])
    const sent = stub.requests.map(({ body }) => JSON.stringify(body['messages']))
    expect(sent[1]).toContain('days')
    expect(sent[2]).toContain('Köln 🌤: sun for 2 days')
    expect(sent[3]).toContain('Two days of sun in Köln.')
  })
})
