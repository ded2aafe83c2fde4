/** Tests the client of OpenAI's Responses API with the built server, which is killed and started again. */
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'

import { numbers, recordSteps } from './recorded-steps.ts'

import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { ServerProcess } from './server-process.ts'

const LIMIT_MS = 60_000

describe('a client of the Responses API over kill -9', { timeout: LIMIT_MS }, () => {
  it('[GW-N2] [GW-N10] A client of the Responses API over kill -9 joins its stream after the last event that it received', async () => {
    using files = recordSteps()
    files.hold(3)
    const first = await files.start({})
    const lost: ResponseStreamEvent[] = []
    const stream = await open(first).responses.create({ model: 'crew', input: 'tea', stream: true })
    const reading = takeAll(stream, lost).catch((error: unknown) => error)
    await expect.poll(() => lost.length).toBeGreaterThan(1)
    const [created] = lost
    if (created?.type !== 'response.created') throw new TypeError('The stream has no start')
    const { id } = created.response
    const runId = id.replace('resp_', '')
    await files.untilBegun(runId, 3)
    await first.end('SIGKILL')
    expect(await reading).toBeInstanceOf(Error)
    files.release(3)
    await using second = await files.start({})
    const after = lost.at(-1)?.sequence_number ?? -1
    const rest: ResponseStreamEvent[] = []
    const joined = { stream: true, starting_after: after } as const
    await takeAll(await open(second).responses.retrieve(id, joined), rest)
    const seen = [...lost, ...rest]
    expect(seen.map(({ sequence_number: at }) => at)).toEqual(seen.map((_, at) => at))
    expect(seen.at(-1)).toMatchObject({ type: 'response.completed', response: { id } })
    expect(numbers(files.steps(runId), 'end')).toEqual([1, 2, 3, 4])
    const whole: ResponseStreamEvent[] = []
    await takeAll(await open(second).responses.retrieve(id, { stream: true }), whole)
    expect(whole).toEqual(seen)
    expect((await open(second).responses.retrieve(id)).output_text).toBe('All done')
  })

  it('[GW-N8] [PROTO-W2] A client of the Responses API over kill -9 answers an approval request of a process that no longer exists', async () => {
    using files = recordSteps()
    const first = await files.start({})
    const asked = await open(first).responses.create({ model: 'panel', input: 'tea' })
    const request = asked.output.find((item) => item.type === 'mcp_approval_request')
    await first.end('SIGKILL')
    await using second = await files.start({})
    const response = await open(second).responses.create({
      model: 'panel',
      previous_response_id: asked.id,
      input: [
        {
          type: 'mcp_approval_response',
          approval_request_id: request?.id ?? '',
          approve: true,
        },
      ],
    })
    expect(response).toMatchObject({ status: 'completed', output_text: 'All done' })
  })
})

function open(server: ServerProcess): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
}

async function takeAll(
  stream: AsyncIterable<ResponseStreamEvent>,
  events: ResponseStreamEvent[],
): Promise<void> {
  for await (const event of stream) events.push(event)
}
