/** The required role of a review, over A2A and the `/tasks` wire. */
import { apiKey } from '@tutti/control-api'
import { describe, expect, it } from 'vitest'

import { CLIENT, userMessage } from './a2a-agent.ts'
import { reviewedTask } from './reviewed-ensembles.ts'
import { openServer, type TestServer } from './open-server.ts'
import { sendBody } from '../../compat-jamjet/test/tasks-server.ts'

const LEAD = 'the-key-of-the-lead'
const COLLEAGUE = 'the-key-of-a-colleague'
const ADMIN = 'the-key-of-the-admin'

const REFUSED = {
  error: 'FORBIDDEN',
  message: expect.stringContaining('requires the role "legal"'),
}

/** Serves an ensemble whose review requires the role `legal`. */
async function serveStrictChoir(): Promise<TestServer> {
  return openServer({
    ensembles: [reviewedTask({ requiredRole: 'legal' })],
    apiKeys: [
      apiKey(LEAD, { name: 'lead', roles: ['legal'] }),
      apiKey(COLLEAGUE, { name: 'colleague', roles: ['ops'] }),
      apiKey(ADMIN, { name: 'admin', scopes: ['admin'] }),
    ],
  })
}

/** Submits a run and returns its id when its review is open. */
async function submitReviewedRun({ runs }: TestServer): Promise<string> {
  const { runId } = await runs.submit({ inputs: { song: 'Ode' } })
  await expect.poll(async () => (await runs.reviews.open({ runId })).length).toBe(1)
  return runId
}

async function overA2a({ url }: TestServer, taskId: string, key: string): Promise<Response> {
  const params = { message: userMessage('approve', { taskId }) }
  return fetch(`${url}/a2a`, {
    method: 'POST',
    headers: { ...CLIENT, authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
  })
}

async function overTasks({ url }: TestServer, id: string, key: string): Promise<Response> {
  return fetch(`${url}/tasks/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(sendBody('yes', { id })),
  })
}

describe.each([
  ['A2A', overA2a],
  ['the /tasks wire', overTasks],
])('over %s', (_wire, decide) => {
  it('The server refuses a key without the role, names the role, and leaves the review open', async () => {
    await using api = await serveStrictChoir()
    const runId = await submitReviewedRun(api)
    for (const key of [COLLEAGUE, ADMIN]) {
      const response = await decide(api, runId, key)
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject(REFUSED)
    }
    expect(await api.runs.reviews.open({ runId })).toHaveLength(1)
    const { status } = (await api.runs.record(runId)) ?? {}
    expect(status).toBe('WAITING_REVIEW')
  })

  it('The server accepts the decision of a key with the role', async () => {
    await using api = await serveStrictChoir()
    const runId = await submitReviewedRun(api)
    expect((await decide(api, runId, LEAD)).status).toBe(200)
    await expect.poll(async () => (await api.runs.record(runId))?.status).toBe('COMPLETED')
  })
})
