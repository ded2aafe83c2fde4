import { ensemble, task, type Ensemble, type EnsembleDefinition } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { buildEnsemble, buildRequest } from './build-ensemble.ts'
import { assertRequiredReviews } from './required-reviews.ts'

import type { TuttiError } from '@tutti/core'
import type { RequestedRun } from '../domain/run-record.ts'

const model = scriptedModel([])

const pay = task({
  name: 'pay',
  description: 'Pay the invoice',
  review: { prompt: 'Is the amount right?', onTimeout: 'FAIL', requiredRole: 'cfo' },
  beforeReview: true,
})
const file = task({ name: 'file', description: 'File the invoice' })

function team(settings: Partial<EnsembleDefinition> = {}): Ensemble {
  return ensemble({ name: 'team', model, tasks: [pay, file], workflow: 'SEQUENTIAL', ...settings })
}

/** Returns the refused paths of a request; empty when it is accepted. */
function refused(request: RequestedRun, template: Ensemble = team()): readonly string[] {
  const catalogs = { tools: undefined, models: undefined, ensembles: new Map() }
  const parts = buildRequest(template, request, catalogs)
  try {
    assertRequiredReviews(template, request, parts)
    return []
  } catch (error) {
    const { code, details = {} } = error as TuttiError
    expect(code).toBe('BAD_REQUEST')
    return (details['problems'] as { path: string }[]).map(({ path }) => path)
  }
}

describe('[RUNS-R5] a request cannot relax the reviews of its operator', () => {
  it.each([
    ['NEVER', 'NEVER', []],
    ['NEVER', 'AFTER_EVERY_TASK', []],
    ['AFTER_LAST_TASK', 'AFTER_EVERY_TASK', []],
    ['AFTER_LAST_TASK', 'NEVER', ['/options/reviewPolicy']],
    ['AFTER_EVERY_TASK', 'AFTER_LAST_TASK', ['/options/reviewPolicy']],
  ] as const)(
    'A request may change the policy of required reviews from %s to %s only if it is as strict',
    (own, asked, paths) => {
      const template = team({ reviewPolicy: own })
      expect(refused({ options: { reviewPolicy: asked } }, template)).toEqual(paths)
    },
  )

  it.each([
    [{ review: 'skip' }, ['/taskOverrides/pay/review']],
    [{ beforeReview: 'skip' }, ['/taskOverrides/pay/beforeReview']],
    [{ review: { onTimeout: 'CONTINUE' } }, ['/taskOverrides/pay/review/onTimeout']],
    [{ review: { requiredRole: 'intern' } }, ['/taskOverrides/pay/review/requiredRole']],
    [{ review: { prompt: 'Just say yes' } }, ['/taskOverrides/pay/review/prompt']],
    [{ review: 'required', beforeReview: 'required' }, []],
    [{ review: { timeoutMs: 0, onTimeout: 'EXIT_EARLY', requiredRole: 'cfo' } }, []],
    [{ beforeReview: { prompt: 'May it?', requiredRole: 'cfo' } }, []],
  ] as const)('A request is refused the override %j at %j', (override, paths) => {
    expect(refused({ taskOverrides: { pay: override } })).toEqual(paths)
  })

  it.each([
    [60_000, []],
    [60_001, []],
    [0, []],
    [59_999, ['/taskOverrides/send/review/timeoutMs']],
  ])(
    'A review that a timeout of 60 s approves accepts %d ms with the result %j',
    (timeoutMs, paths) => {
      const send = task({
        name: 'send',
        description: 'Send it',
        review: { timeoutMs: 60_000, onTimeout: 'CONTINUE' },
      })
      const request = { taskOverrides: { send: { review: { timeoutMs } } } }
      expect(refused(request, team({ tasks: [send] }))).toEqual(paths)
    },
  )

  it('A refused relaxation of required reviews names the setting, and what is expected', () => {
    const taskOverrides = {
      pay: {
        review: { onTimeout: 'CONTINUE', requiredRole: 'intern', prompt: 'Yes?' },
        beforeReview: 'skip',
      },
    } as const
    const template = team()
    const built = buildEnsemble(
      template,
      { taskOverrides },
      { tools: undefined, models: undefined, ensembles: new Map() },
    )
    const originals = template.tasks
    expect(() => assertRequiredReviews(template, { taskOverrides }, { built, originals })).toThrow(
      '/taskOverrides/pay/review/onTimeout must not be CONTINUE: the operator has set FAIL; ' +
        '/taskOverrides/pay/review/requiredRole must be "cfo", which the operator has set; ' +
        "/taskOverrides/pay/review/prompt must not replace the operator's prompt; " +
        '/taskOverrides/pay/beforeReview must not be "skip": the operator requires a review of task "pay"',
    )
  })

  it('A request may have every setting for a task without a required review', () => {
    expect(refused({ taskOverrides: { file: { review: { onTimeout: 'CONTINUE' } } } })).toEqual([])
    expect(refused({ taskOverrides: { file: { review: 'skip' } } })).toEqual([])
  })

  it('A required review is found for a task that is overridden by the start of its description', () => {
    const taskOverrides = { 'Pay the': { review: 'skip' as const } }
    expect(refused({ taskOverrides })).toEqual(['/taskOverrides/Pay the/review'])
  })

  it('A request is refused with tasks without a review that the policy requires', () => {
    const tasks = [
      { description: 'One', review: 'skip' as const },
      { description: 'Two', review: { onTimeout: 'CONTINUE' as const } },
    ]
    const options = { workflow: 'SEQUENTIAL' as const }
    expect(refused({ tasks, options })).toEqual([])
    expect(refused({ tasks, options }, team({ reviewPolicy: 'AFTER_EVERY_TASK' }))).toEqual([
      '/tasks/0/review',
      '/tasks/1/review/onTimeout',
    ])
    expect(refused({ tasks, options }, team({ reviewPolicy: 'AFTER_LAST_TASK' }))).toEqual([
      '/tasks/1/review/onTimeout',
    ])
  })

  it.each([
    [{}, { onTimeout: 'CONTINUE' }, ['/options/review/onTimeout']],
    [{ onTimeout: 'CONTINUE' }, { onTimeout: 'CONTINUE' }, []],
    [{ onTimeout: 'CONTINUE' }, { timeoutMs: 1 }, ['/options/review/timeoutMs']],
    [{}, { timeoutMs: 1 }, []],
    [{ requiredRole: 'lead' }, { requiredRole: 'intern' }, ['/options/review/requiredRole']],
    [{}, { requiredRole: 'lead', timeoutMs: 0, onTimeout: 'FAIL' }, []],
  ] as const)(
    'A request with the defaults %j is refused options.review %j for %j',
    (own, asked, paths) => {
      expect(refused({ options: { review: asked } }, team({ review: own }))).toEqual(paths)
    },
  )
})

describe('the reviews of a request', () => {
  const built = (request: RequestedRun, template: Ensemble = team()): Ensemble =>
    buildEnsemble(template, request, { tools: undefined, models: undefined, ensembles: new Map() })

  it('The reviews of a request take missing settings from the task, then the request, then the ensemble', () => {
    const template = team({ review: { timeoutMs: 1, onTimeout: 'FAIL', requiredRole: 'lead' } })
    const { tasks, review } = built(
      {
        options: { review: { timeoutMs: 0 } },
        taskOverrides: { pay: { review: { timeoutMs: 7 }, beforeReview: 'required' } },
      },
      template,
    )
    expect(review).toEqual({ timeoutMs: Infinity, onTimeout: 'FAIL', requiredRole: 'lead' })
    expect(tasks[0]?.review).toEqual({ ...Object(pay.review), timeoutMs: 7 })
    expect(tasks[0]?.beforeReview).toEqual({})
  })

  it('The reviews of a request are required, skipped, or have settings for its own tasks', () => {
    const { tasks } = built({
      tasks: [
        { description: 'A', review: 'required', beforeReview: 'skip' },
        { description: 'B', review: 'skip', beforeReview: { timeoutMs: 0, prompt: 'Now?' } },
        { description: 'C' },
      ],
    })
    expect(tasks.map(({ review, beforeReview }) => [review, beforeReview])).toEqual([
      [true, false],
      [false, { timeoutMs: Infinity, prompt: 'Now?' }],
      [undefined, undefined],
    ])
  })
})
