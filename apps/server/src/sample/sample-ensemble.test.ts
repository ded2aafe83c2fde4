import { runTool, type AgentTool } from '@tutti/core'
import { agent, ensemble, task } from '@tutti/ensemble'
import { scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { LIBRARY } from './library.ts'
import { measureText, readArticle, searchLibrary } from './library-tools.ts'
import { reviewedEnsemble } from './reviewed-ensemble.ts'
import { sampleEnsemble } from './sample-ensemble.ts'
import { sampleModel } from './sample-model.ts'

describe('the sample ensemble', () => {
  it('The sample ensemble writes a brief from the results of its tools', async () => {
    const { status, tasks, metrics } = await sampleEnsemble(sampleModel({ delayMs: 0 })).run({
      topic: 'AI safety',
    })
    expect(status).toBe('COMPLETED')
    const [notes, brief] = tasks.map(({ output }) => output)
    expect(notes?.split('\n').every((line) => line.startsWith('- '))).toBe(true)
    expect(LIBRARY.some(({ text }) => text.includes(notes?.split('\n')[0]?.slice(2) ?? '?'))).toBe(
      true,
    )
    expect(brief).toMatch(/^# AI safety: a brief\n\n- .+/)
    expect(brief).toMatch(/\d+ words, \d+ seconds to read\.$/)
    expect(metrics.totalToolCalls).toBe(5)
  })

  it('The sample ensemble has a model that retains no requests, because its server may run for months', async () => {
    const model = sampleModel({ delayMs: 0 })
    await sampleEnsemble(model).run({ topic: 'AI safety' })
    expect(model).toMatchObject({ requests: [] })
  })

  it('The sample model hands a conversation off once', async () => {
    const author = agent({ role: 'Author', tools: [searchLibrary], handoffs: ['Editor'] })
    const editor = agent({ role: 'Editor', handoffs: [author] })
    const brief = task({ name: 'brief', description: 'Write a brief', agent: editor })
    const model = sampleModel({ delayMs: 0 })
    const { tasks } = await ensemble({ name: 'team', model, tasks: [brief] }).run()
    expect(tasks.map(({ taskName }) => taskName)).toEqual(['brief', 'brief/Author'])
  })

  it('The sample ensemble reports that the library has nothing on a topic', async () => {
    const { status, output } = await sampleEnsemble(sampleModel({ delayMs: 0 })).run({
      topic: 'zebra husbandry',
    })
    expect(status).toBe('COMPLETED')
    expect(output).toContain('The library has nothing on zebra husbandry.')
  })
})

describe('the sample ensemble with a review', () => {
  it('The sample ensemble with a review combines both researchers, and revises the brief after feedback', async () => {
    const reviewer = scriptedReviewer([
      { action: 'REJECT', feedback: 'Say who it is for.' },
      'CONTINUE',
    ])
    const run = await reviewedEnsemble(sampleModel({ delayMs: 0 })).run(
      { topic: 'AI safety' },
      { reviewer },
    )
    expect(run.status).toBe('COMPLETED')
    const [theory, practice] = run.tasks.map(({ output }) => output)
    expect(theory).not.toBe(practice)
    const [first, second, ...others] = reviewer.reviews.map(({ taskOutput }) => taskOutput)
    expect(others).toEqual([])
    expect(first).not.toContain('Say who it is for.')
    expect(second).toContain('Changed as requested: Say who it is for.')
  })
})

describe('the tools of the samples', () => {
  it('The tools of the samples search by subject, best match first, and return an empty list without a match', async () => {
    const found = await call(searchLibrary, { query: 'the safety of AI', limit: 2 })
    expect(found.structured).toEqual([
      { id: 'ai-safety-goals', title: 'The goals of AI safety' },
      { id: 'ai-safety-practice', title: 'AI safety in daily practice' },
    ])
    expect((await call(searchLibrary, { query: 'zebra' })).output).toBe('[]')
  })

  it('The tools of the samples read an article, and list the known ids for an unknown one', async () => {
    expect((await call(readArticle, { id: 'orchestra' })).output).toMatch(/^How an orchestra/)
    expect(await call(readArticle, { id: 'opera' })).toMatchObject({
      success: false,
      errorMessage: expect.stringMatching(/"opera".*orchestra/),
    })
  })

  it('The tools of the samples measure a text', async () => {
    const text = 'It is half-done. Isn’t it? Yes!'
    expect((await call(measureText, { text })).structured).toEqual({
      words: 6,
      sentences: 3,
      readingSeconds: 2,
    })
  })
})

async function call(tool: AgentTool, input: object) {
  const { result } = await runTool(tool, {
    id: 'call-1',
    name: tool.name,
    arguments: JSON.stringify(input),
  })
  return result
}
