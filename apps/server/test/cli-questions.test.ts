/** Tests how the CLI shows questions of tools and answers them. */
import { createClient, type TuttiClient } from '@tutti/client'
import { defineTool, Type } from '@tutti/core'
import type { ToolSchema } from '@tutti/core/internal'
import { ensemble, task, type Ensemble } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { tutti } from './cli-process.ts'
import { openClientServer, type ClientServer } from './client-server.ts'
import { KEYS, openTerminal } from './terminal.ts'

import type { PendingReview } from '@tutti/protocol'

let server: ClientServer
let env: { readonly TUTTI_URL: string }
let client: TuttiClient

beforeAll(async () => {
  const more = [
    asker('travel', 'Which country?', Type.String()),
    asker('count', 'How many?', Type.Integer()),
  ]
  server = await openClientServer({ more })
  env = { TUTTI_URL: server.url }
  client = createClient({ baseUrl: server.url })
})

afterAll(() => server[Symbol.asyncDispose]())

/** Creates an ensemble whose tool asks a question and returns the answer as JSON. */
function asker(name: string, question: string, schema: ToolSchema): Ensemble {
  const ask = defineTool({
    name: 'ask_caller',
    description: 'Asks',
    input: Type.Object({}),
    async execute(_, { requestAnswer }) {
      const answer = await requestAnswer(question, { schema, timeoutMs: 600_000 })
      return answer.answered ? JSON.stringify(answer.value) : 'no answer'
    },
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'tool'
      ? last.content
      : { toolCalls: [{ name: 'ask_caller', arguments: {} }] }
  })
  return ensemble({ name, model, tasks: [task({ name, description: 'Ask', tools: [ask] })] })
}

async function untilAsked(name: string): Promise<PendingReview> {
  const { runId } = await client.runs.submit({ ensemble: name, inputs: {} })
  let review: PendingReview | undefined
  await expect
    .poll(async () => {
      const { reviews } = await client.reviews.list({ runId })
      review = reviews[0]
      return reviews.length
    })
    .toBe(1)
  if (review === undefined) throw new Error('Expected an open review')
  return review
}

async function readOutput(runId: string): Promise<unknown> {
  for await (const event of client.runs.events(runId, { events: ['run_result'] })) {
    if (event.type === 'run_result') return event.outputs?.at(-1)?.output
  }
  throw new Error('Expected a result')
}

it('`tutti review` lists the question and takes a plain text as its answer', async () => {
  const review = await untilAsked('travel')
  expect(review).toMatchObject({
    kind: 'QUESTION',
    prompt: 'Which country?',
    answerSchema: { type: 'string' },
  })
  expect(review).not.toHaveProperty('toolInput')
  const [list, undecided] = await Promise.all([
    tutti(['review', '--kind', 'QUESTION'], { env }),
    tutti(['review', review.reviewId], { env }),
  ])
  expect(list.stdout).toMatch(new RegExp(`\n${review.reviewId} .*\n  Which country\\?\n`))
  expect(undecided).toMatchObject({ code: 2, stderr: expect.stringContaining('--answer TEXT') })
  const answered = await tutti(['review', review.reviewId, '--answer', 'Germany'], { env })
  expect(answered).toEqual({ code: 0, stdout: `${review.reviewId} EDIT\n`, stderr: '' })
  expect(await readOutput(review.runId)).toBe('"Germany"')
})

it('`tutti review` refuses an answer to a review that is not a question', async () => {
  const { runId } = await client.runs.submit({ ensemble: 'panel', inputs: { composer: 'Bach' } })
  await expect.poll(async () => (await client.reviews.list({ runId })).total).toBe(1)
  const refused = await tutti(['review', runId, '--answer', 'Germany'], { env })
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a question') })
  await client.runs.cancel(runId)
})

it('`tutti review` asks for the answer first on a terminal, and again with the text that the server rejected', async () => {
  const review = await untilAsked('count')
  await using terminal = openTerminal(['review', review.reviewId], { env })
  await terminal.until(
    /Question of count[^]*How many\?[^]*JSON Schema of the answer: \{"type":"integer"\}[^]*● Answer…/,
  )
  terminal.write(KEYS.enter)
  await terminal.until('Your answer')
  terminal.write('4x')
  terminal.write(KEYS.enter)
  await terminal.until('must be an integer, got "4x"')
  await terminal.until(/Your answer[^]*4x[^]*Your answer[^]*4x/)
  terminal.write(KEYS.backspace)
  terminal.write('2')
  terminal.write(KEYS.enter)
  expect(await terminal.ended()).toBe(0)
  expect(await readOutput(review.runId)).toBe('42')
})
