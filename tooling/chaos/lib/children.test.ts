import { describe, expect, it } from 'vitest'

import { CHILDREN, judgeChildren, readLines, type ChildrenEvidence } from './children.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** Returns an event with the fields that the checks read. */
function makeEvent(seq: number, type: LoggedRunEvent['type'], fields: object): LoggedRunEvent {
  // NOTE: the checks read no other fields.
  return { id: `run-1:${seq}`, seq, type, ...fields } as LoggedRunEvent
}

/** Returns what is known of a run of two tasks without a fault, whose first step a killed process performed, too. */
function makeEvidence(changes: Partial<ChildrenEvidence> = {}): ChildrenEvidence {
  const events = ['0', '1'].flatMap((key) => {
    const name = { workerTask: `${CHILDREN}/${key}`, taskName: CHILDREN }
    return [
      ['delegation_started', name],
      ['task_completed', { taskName: `${CHILDREN}/${key}`, output: key }],
      ['delegation_completed', name],
    ] as const
  })
  const end = [
    ['run_resumed', {}],
    ['task_completed', { taskName: CHILDREN, output: '2' }],
    ['run_result', { status: 'COMPLETED' }],
  ] as const
  return {
    count: 2,
    lines: readLines('0 key-0 7\n0 key-0 8\n1 key-1 8\n1 key-1 9 of a line that is not whole'),
    killed: new Set([7]),
    events: [...events, ...end].map(([type, fields], seq) => makeEvent(seq, type, fields)),
    steps: new Map([
      [`${CHILDREN}/0`, 1],
      [`${CHILDREN}/1`, 1],
    ]),
    ...changes,
  }
}

describe('judgeChildren', () => {
  it('A run in which each task was done once has no violations', () => {
    expect(judgeChildren(makeEvidence())).toEqual({ violations: [], repeats: 1, takeovers: 1 })
  })

  const { events } = makeEvidence()

  it.each<[string, Partial<ChildrenEvidence>, string]>([
    [
      'a lost step',
      { lines: readLines('0 key-0 8\n') },
      'item 1 is lost: its step was never performed',
    ],
    [
      'a step under two keys',
      { lines: readLines('0 key-0 7\n0 key-9 8\n1 key-1 8\n') },
      'item 0 was done under 2 keys: key-0,key-9',
    ],
    [
      'a repeat without a kill',
      { killed: new Set([5]) },
      'item 0 was done again although process 7 was not killed',
    ],
    [
      'a step that is not recorded',
      { steps: new Map([[`${CHILDREN}/0`, 1]]) },
      'the step of item 1 is recorded 0 times',
    ],
    [
      'a task that was completed twice',
      { events: [...events.slice(0, -1), { ...events[1], seq: 8 } as LoggedRunEvent] },
      '3 events task_completed of 2 tasks instead of 2',
    ],
    [
      'a repeated event',
      { events: events.map((event) => ({ ...event, seq: 0 })) },
      'the log has a gap or a repeated event',
    ],
    ['no end', { events: events.slice(0, -1) }, 'the run ended as nothing'],
  ])('%s is a violation', (_, changes, violation) => {
    expect(judgeChildren(makeEvidence(changes)).violations).toContain(violation)
  })
})
