import { MAX_DURATION_MS } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { createDirective, Directives, renderDirectives } from './directives.ts'

import type { DirectiveInput } from '@tutti/protocol/internal'
import type { Directive } from '../ports/run-step.ts'

const NOW = Date.UTC(2026, 0, 1)
const isTaken = (id: string): boolean => id === 'taken'

function made(input: Partial<DirectiveInput>): Directive {
  const whole = { content: 'Words', id: 'd', ...input }
  return createDirective(whole, { now: NOW, targets: ['work', 'Writer', 'work'], isTaken })
}

const TARGET = { taskName: 'work', agentRole: 'Writer', attempt: 1 }

function reach(directives: Directives, target = TARGET, now = NOW): readonly string[] {
  const ids = directives.next(target, now).map(({ id }) => id)
  directives.markReached(target, ids)
  return ids
}

function of(...inputs: readonly Partial<DirectiveInput>[]): Directives {
  const directives = new Directives()
  for (const input of inputs) directives.add(made(input))
  return directives
}

describe('createDirective', () => {
  it('createDirective fills in defaults', () => {
    expect(made({})).toEqual({ id: 'd', content: 'Words', priority: 'NORMAL', createdAt: NOW })
    const { id } = createDirective({ content: 'x' }, { now: NOW, targets: [], isTaken })
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('createDirective expires after ttlMs, and never without a limit', () => {
    expect(made({ ttlMs: 5 }).expiresAt).toBe(NOW + 5)
    expect(made({ ttlMs: Infinity })).not.toHaveProperty('expiresAt')
    expect(made({ ttlMs: MAX_DURATION_MS }).expiresAt).toBe(NOW + MAX_DURATION_MS)
  })

  it.each([
    [{ content: '\n' }, 'content must be text that is not blank, got "\\n"'],
    [{ ttlMs: 8.64e15 }, 'ttlMs must be <= 3153600000000, got 8640000000000000'],
    [{ ttlMs: -1 }, 'ttlMs must be > 0, got -1'],
    [{ ttlMs: Number.NaN }, 'ttlMs must be > 0, got NaN'],
    [{ to: 'Editor' }, 'no task or agent is named "Editor". Available: [work, Writer]'],
    [{ id: 'taken' }, 'the id "taken" is already used'],
  ])('[ENS-S3] createDirective rejects %j: %s', (input, problem) => {
    expect(() => made(input)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        message: `Invalid directive: ${problem}`,
      }),
    )
  })
})

describe('[ENS-D1] a directive', () => {
  it.each([
    [undefined, true],
    ['work', true],
    ['Writer', true],
    ['other', false],
  ])('A directive to %s reaches the call: %s', (to, isDelivered) => {
    const directives = new Directives()
    directives.add({ ...made({}), ...(to === undefined ? {} : { to }) })
    expect(reach(directives)).toEqual(isDelivered ? ['d'] : [])
  })

  it('A directive for a declared task also reaches its delegated copies', () => {
    const target = { ...TARGET, taskName: 'work#2', baseName: 'work', agentRole: 'Other' }
    expect(reach(of({ to: 'work' }), target)).toEqual(['d'])
  })

  it('A directive reaches each task once per attempt', () => {
    const directives = of({})
    expect(reach(directives)).toEqual(['d'])
    expect(reach(directives)).toEqual([])
    expect(reach(directives, { ...TARGET, taskName: 'other' })).toEqual(['d'])
    expect(reach(directives, { ...TARGET, attempt: 2 })).toEqual(['d'])
  })

  it('A directive is in force until its last millisecond', () => {
    expect(reach(of({ ttlMs: 5 }), TARGET, NOW + 4)).toEqual(['d'])
    expect(reach(of({ ttlMs: 5 }), TARGET, NOW + 5)).toEqual([])
  })
})

it('[ENS-D2] Directives are delivered by priority, then in the order of arrival', () => {
  const priorities = ['LOW', 'HIGH', 'NORMAL', 'CRITICAL', 'HIGH'] as const
  const directives = of(...priorities.map((priority, index) => ({ priority, id: String(index) })))
  expect(reach(directives)).toEqual(['3', '1', '4', '2', '0'])
})

it('[ENS-D3] A directive that reached one attempt reaches the next one although it has expired', () => {
  const directives = of({ ttlMs: 5 })
  reach(directives)
  expect(reach(directives, { ...TARGET, attempt: 2 }, NOW + 100)).toEqual(['d'])
  expect(reach(directives, { ...TARGET, taskName: 'other', attempt: 2 }, NOW + 100)).toEqual([])
})

it('renderDirectives shows the sender and the time of each directive', () => {
  const text = renderDirectives([made({ from: 'ann' }), made({ content: 'More' })])
  expect(text).toBe(
    '[ann | 2026-01-01T00:00:00.000Z] Words\n[control | 2026-01-01T00:00:00.000Z] More',
  )
})
