/** Memories and reflections over several runs, on every store. */
import { agent, ensemble, memoryScope, task } from '@tutti/ensemble'
import { createRunService, type RunService } from '@tutti/runs'
import type { RunStorage } from '@tutti/runs/adapter'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { until } from '../../../tooling/test-kit/wait.ts'
import { STORES } from './stores.ts'

const REFLECTION = 'OBSERVATIONS:\n- It rambles\nSUGGESTIONS:\n- Name three sources'

/** Returns a service with one ensemble, which appends prompts to `prompts`. */
function service(storage: RunStorage, prompts: string[]): RunService {
  const model = scriptedModel(({ messages }) => {
    const prompt = messages.map(({ content }) => content).join('\n')
    if (prompt.includes('Answer with these four sections')) return REFLECTION
    prompts.push(prompt)
    return `Finding ${prompts.length}`
  })
  const research = task({
    name: 'research',
    description: 'Research {topic}',
    agent: agent({ role: 'Researcher', goal: 'Find facts' }),
    memory: [memoryScope({ name: 'findings' })],
    reflection: true,
  })
  return createRunService(storage, [ensemble({ name: 'desk', tasks: [research], model })])
}

async function complete(runs: RunService, topic: string): Promise<void> {
  const { runId } = await runs.submit({ inputs: { topic } })
  await until('it is done', async () => (await runs.record(runId))?.status === 'COMPLETED')
}

describe.each(Object.entries(STORES))('on the store "%s"', (_, place) => {
  it('A run receives memories and reflections from runs of an earlier process', async () => {
    await using where = await place()
    const earlier: string[] = []
    const first = service(await where.open(), earlier)
    await first.start()
    await complete(first, 'jazz')
    await first.close({ drainTimeoutMs: 0 })
    expect(earlier).toEqual([expect.not.stringContaining('Memory: findings')])

    const prompts: string[] = []
    const second = service(await where.open(), prompts)
    await second.start()
    await complete(second, 'blues')
    expect(prompts[0]).toContain('Memory: findings')
    expect(prompts[0]).toContain('Finding 1')
    expect(prompts[0]).toContain('Name three sources')
    await second.close({ drainTimeoutMs: 0 })
  })
})
