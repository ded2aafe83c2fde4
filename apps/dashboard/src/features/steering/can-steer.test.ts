import { emptyRunState, type RunState } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { findCurrentModels, findSteerable, listTargets } from './can-steer.ts'

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
  it('A directive can target tasks that have not ended and their roles, each once', () => {
    const retrying = { reason: '', code: 'X', willRetry: true }
    const tasks = [
      task('a'),
      task('b', { status: 'COMPLETED', agentRole: 'Gone' }),
      task('c', { status: 'FAILED', error: retrying, agentRole: 'Editor' }),
      task('Printer', { status: 'PENDING', agentRole: 'Printer' }),
    ]
    expect(listTargets({ tasks })).toEqual({
      tasks: ['a', 'c', 'Printer'],
      roles: ['Writer', 'Editor'],
    })
  })
})

describe('a run', () => {
  const running: RunState = { ...emptyRunState(), status: 'RUNNING' }

  it('A run can be steered until it ends or its work is being stopped', () => {
    const available = { isOver: false, blocked: undefined, ending: undefined }
    expect(findSteerable(running)).toEqual(available)
    const boundary = findSteerable({ ...running, status: 'CANCELLING', cancelMode: 'boundary' })
    expect(boundary).toEqual({ ...available, ending: expect.stringMatching(/finish/) })
    const abort = findSteerable({ ...running, status: 'CANCELLING', cancelMode: 'abort' })
    expect(abort).toMatchObject({ isOver: false, blocked: expect.stringMatching(/cancelled/) })
    expect(findSteerable({ ...running, status: 'FAILED', cancelMode: 'abort' })).toMatchObject({
      isOver: true,
      blocked: 'The run has ended',
      ending: undefined,
    })
  })

  it('A run uses the models of its running tasks, or the model that it was switched to', () => {
    // NOTE: the field that is read.
    const turns = [{ model: 'small' }] as unknown as RunState['tasks'][number]['turns']
    const tasks = [task('a', { turns }), task('b', { model: 'own', status: 'PENDING' })]
    expect(findCurrentModels({ tasks }, undefined)).toEqual(['small'])
    expect(findCurrentModels({ tasks }, 'b')).toEqual(['own'])
    expect(findCurrentModels({ tasks, model: 'large' }, undefined)).toEqual(['large'])
    expect(findCurrentModels({ tasks: [], model: 'large' }, undefined)).toEqual(['large'])
    expect(findCurrentModels({ tasks: [] }, undefined)).toEqual([])
  })
})
