import { describe, expect, it } from 'vitest'
import { eventOf } from '../../test/run-events.ts'
import { applyToDirectives, type DirectiveEvent } from './directives.ts'
import { ListEditor } from './lists.ts'
import { emptyRunState, type RunState } from './run-state.ts'

const apply = (state: RunState, event: DirectiveEvent) =>
  applyToDirectives(state, event, new ListEditor())
const stateAfter = (...events: readonly DirectiveEvent[]) =>
  events.reduce((state, event) => apply(state, event), emptyRunState())
const after = (...events: readonly DirectiveEvent[]) => stateAfter(...events).directives
const active = eventOf('directive_active')
const delivery = (iterationIndex: number, attempt = 1, taskName = 'researcher') =>
  eventOf('directive_delivered', { iterationIndex, attempt, taskName })

describe('directive_active', () => {
  it('directive_active adds a directive with all its fields', () => {
    const action = eventOf('directive_active', {
      directiveId: 'dir-2',
      content: undefined,
      action: 'SET_MODEL_TIER',
      value: 'FALLBACK',
    })
    const ofKey = eventOf('directive_active', {
      directiveId: 'dir-3',
      actor: 'ci',
      activeAt: '2025-03-15T10:30:01Z',
    })
    const told = [active, action, ofKey]
    const states = told.map(({ type: _, ...fields }) => ({ ...fields, delivered: [] }))
    expect(after(...told)).toStrictEqual(states)
  })

  it('directive_active of a known directive keeps its place and its deliveries', () => {
    const other = eventOf('directive_active', { directiveId: 'dir-2' })
    const again = eventOf('directive_active', { content: 'Newer' })
    const [first, second, ...more] = after(active, other, delivery(0), again)
    expect(first).toMatchObject({ content: 'Newer', delivered: [{ iterationIndex: 0 }] })
    expect(second).toMatchObject({ directiveId: 'dir-2', delivered: [] })
    expect(more).toEqual([])
  })
})

describe('directive_delivered', () => {
  it('directive_delivered records the turns that showed the directive', () => {
    const [directive] = after(active, delivery(0), delivery(0, 2), delivery(0, 1, 'writer'))
    expect(directive?.delivered).toEqual([
      {
        taskName: 'researcher',
        attempt: 1,
        iterationIndex: 0,
        deliveredAt: '2025-03-15T10:30:03Z',
      },
      {
        taskName: 'researcher',
        attempt: 2,
        iterationIndex: 0,
        deliveredAt: '2025-03-15T10:30:03Z',
      },
      { taskName: 'writer', attempt: 1, iterationIndex: 0, deliveredAt: '2025-03-15T10:30:03Z' },
    ])
  })

  it('directive_delivered is recorded once for a turn that begins again', () => {
    const [directive] = after(active, delivery(0), delivery(1), delivery(0))
    expect(directive?.delivered.map(({ iterationIndex }) => iterationIndex)).toEqual([1, 0])
  })

  it('directive_delivered of an unknown directive has no effect', () => {
    const state = stateAfter(active)
    const event = eventOf('directive_delivered', { directiveId: 'other' })
    expect(apply(state, event)).toBe(state)
  })
})
