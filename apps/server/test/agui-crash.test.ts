/** Tests the client of AG-UI with the built server, which is killed and started again. */
import { HttpAgent, type Interrupt } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'

import { fetchUntilLost } from './fetch-until-lost.ts'
import { recordSteps, numbers } from './recorded-steps.ts'

const LIMIT_MS = 60_000

describe('a client of AG-UI over kill -9', { timeout: LIMIT_MS }, () => {
  it('[GW-Y15] A client of AG-UI over kill -9 joins its run again, which has each tool call, its result and its text once', async () => {
    using files = recordSteps()
    files.hold(3)
    const first = await files.start({})
    const agent = openAgent(first.url, 'crew')
    const lost = agent.runAgent({ runId: 'crew-run' })
    await files.untilBegun('crew-run', 3)
    await expect.poll(() => countResults(agent)).toBe(2)
    await first.end('SIGKILL')
    await lost
    files.release(3)
    await using second = await files.start({})
    agent.url = `${second.url}/agui/crew`
    await agent.runAgent({ runId: 'crew-run' })
    expect(numbers(files.steps('crew-run'), 'end')).toEqual([1, 2, 3, 4])
    expect(
      agent.messages.map(({ role, content }) => `${role} ${describeContent(content)}`),
    ).toEqual([
      'user "tea"',
      ...[1, 2, 3, 4].flatMap((n) => ['assistant none', `tool "did ${n}"`]),
      'assistant "All done"',
    ])
    expect(agent.state).toMatchObject({ tutti: { status: 'COMPLETED', reviews: [] } })
  })

  it('[GW-Y5] A client of AG-UI over kill -9 answers an interrupt of a process that no longer exists', async () => {
    using files = recordSteps()
    const first = await files.start({})
    const agent = openAgent(first.url, 'panel')
    await agent.runAgent()
    const [interrupt] = agent.pendingInterrupts
    expect(interrupt).toMatchObject({ reason: 'confirmation', message: 'Good?' })
    await first.end('SIGKILL')
    await using second = await files.start({})
    agent.url = `${second.url}/agui/panel`
    await agent.runAgent({ resume: [accept(interrupt)] })
    expect(agent.pendingInterrupts).toEqual([])
    expect(agent.messages.map(({ content }) => content)).toEqual(['tea', 'All done'])
  })
})

function openAgent(url: string, name: string): HttpAgent {
  const initialMessages = [{ id: 'question', role: 'user', content: 'tea' } as const]
  return new HttpAgent({ url: `${url}/agui/${name}`, initialMessages, fetch: fetchUntilLost })
}

function countResults({ messages }: HttpAgent): number {
  return messages.filter(({ role }) => role === 'tool').length
}

function describeContent(content: unknown): string {
  return content === undefined || content === '' ? 'none' : JSON.stringify(content)
}

function accept(interrupt: Interrupt | undefined) {
  return {
    interruptId: interrupt?.id ?? '',
    status: 'resolved',
    payload: { approved: true },
  } as const
}
