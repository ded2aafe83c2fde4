import { emptyRunState, type RunState } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { currentModels, steerable } from './can-steer.ts'
import { checkInject, NO_DIRECTIVE, otherProblems, problemsOf, targetsOf } from './inject-form.ts'

const FORM = { ...NO_DIRECTIVE, content: 'Be short' }

function task(name: string, change: Partial<RunState['tasks'][number]> = {}) {
  // NOTE: the fields that steering reads.
  return {
    name,
    status: 'RUNNING',
    agentRole: 'Writer',
    turns: [],
    ...change,
  } as RunState['tasks'][number]
}

describe('a directive', () => {
  it('is sent with what was chosen, and nothing else', () => {
    expect(checkInject(FORM)).toEqual({ ok: true, body: { content: 'Be short' } })
    const all = { ...FORM, target: 'draft', priority: 'HIGH', ttl: 'PT5M' } as const
    expect(checkInject(all)).toEqual({
      ok: true,
      body: { content: 'Be short', target: 'draft', priority: 'HIGH', ttl: 'PT5M' },
    })
    const custom = checkInject({ ...FORM, ttl: 'custom', customTtl: ' PT90S ' })
    expect(custom).toMatchObject({ ok: true, body: { ttl: 'PT90S' } })
  })

  it('says at the field what does not fit', () => {
    const blank = checkInject({ ...FORM, content: '  ' })
    expect(blank.ok ? [] : problemsOf(blank.problems, 'content')).toEqual([
      expect.stringMatching(/not blank/),
    ])
    for (const customTtl of ['', '5 minutes']) {
      const checked = checkInject({ ...FORM, ttl: 'custom', customTtl })
      expect(checked.ok ? [] : problemsOf(checked.problems, 'ttl')).toHaveLength(1)
    }
    const problems = [{ path: '/else', message: 'is wrong' }]
    expect(otherProblems(problems, ['content'])).toEqual(['/else is wrong'])
    expect(otherProblems(problems, ['else'])).toEqual([])
  })

  it('can be for what has not ended, each name once', () => {
    const retrying = { reason: '', code: 'X', willRetry: true }
    const tasks = [
      task('a'),
      task('b', { status: 'COMPLETED', agentRole: 'Gone' }),
      task('c', { status: 'FAILED', error: retrying, agentRole: 'Editor' }),
      task('Printer', { status: 'PENDING', agentRole: 'Printer' }),
    ]
    expect(targetsOf({ tasks })).toEqual({
      tasks: ['a', 'c', 'Printer'],
      roles: ['Writer', 'Editor'],
    })
  })
})

describe('a run', () => {
  const running: RunState = { ...emptyRunState(), status: 'RUNNING' }

  it('can be steered until it ends, and less while it is cancelled', () => {
    expect(steerable(running)).toMatchObject({
      isOver: false,
      direct: undefined,
      cancel: undefined,
    })
    const boundary = steerable({ ...running, status: 'CANCELLING', cancelMode: 'boundary' })
    expect([boundary.direct, boundary.cancel, boundary.ending]).toEqual([
      undefined,
      undefined,
      expect.stringMatching(/finish/),
    ])
    const abort = steerable({ ...running, status: 'CANCELLING', cancelMode: 'abort' })
    expect([abort.direct, abort.switchModel, abort.cancel].every(Boolean)).toBe(true)
    expect(steerable({ ...running, status: 'FAILED', cancelMode: 'abort' })).toMatchObject({
      isOver: true,
      ending: undefined,
    })
  })

  it('works with the models of its running tasks, or what it was switched to', () => {
    // NOTE: the field that is read.
    const turns = [{ model: 'small' }] as unknown as RunState['tasks'][number]['turns']
    const tasks = [task('a', { turns }), task('b', { model: 'own', status: 'PENDING' })]
    expect(currentModels({ tasks }, undefined)).toEqual(['small'])
    expect(currentModels({ tasks }, 'b')).toEqual(['own'])
    expect(currentModels({ tasks, model: 'large' }, undefined)).toEqual(['large'])
    expect(currentModels({ tasks: [], model: 'large' }, undefined)).toEqual(['large'])
    expect(currentModels({ tasks: [] }, undefined)).toEqual([])
  })
})
