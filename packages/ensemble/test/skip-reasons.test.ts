/** Tests of skips that follow from other skips. */
import { expect, it } from 'vitest'

import { condition, ensemble, task, type Task, type TaskDefinition } from '../src/index.ts'
import { runInProcesses } from './interrupt-everywhere.ts'
import { eventsOf, watchRun } from './watch-run.ts'

function say(name: string, more: Partial<TaskDefinition<undefined>> = {}): Task<string> {
  return task({ name, description: `Do ${name}`, handler: () => name, ...more })
}

const never = (): boolean => false

/** A task skipped by its condition, a reader of it alone, and a reader of it and of a completed task. */
function chain(): readonly Task[] {
  const ran = say('ran')
  const off = say('off', { when: condition([ran], never) })
  const behind = say('behind', { context: [off] })
  return [ran, off, behind, say('last', { context: [behind, ran] })]
}

it('[ENS-X5] A task behind a chain of skipped tasks runs, also in a sub-ensemble', async () => {
  const flat = await watchRun(ensemble({ name: 'team', tasks: chain() })).ended
  expect([flat.status, flat.output]).toEqual(['COMPLETED', 'last'])
  const inner = ensemble({ name: 'inner', tasks: chain() })
  const nested = await ensemble({
    name: 'team',
    tasks: [task({ name: 'sub', ensemble: inner })],
  }).run()
  expect([nested.status, nested.output]).toEqual(['COMPLETED', 'last'])
})

it('[ENS-X7] The reason of a skip is the same wherever the run is interrupted', async () => {
  const open = () => {
    const off = say('off', { when: never })
    const before = say('before', { context: [off] })
    const one = say('one', { switch: 's', when: condition([off], () => true) })
    const other = say('other', { switch: 's', context: [off] })
    // Its switch waits for a task that its own context skips.
    const two = say('two', { switch: 't', when: condition([before], () => true) })
    const rest = say('rest', { switch: 't', context: [before] })
    return {
      team: ensemble({
        name: 'team',
        workflow: 'PARALLEL',
        tasks: [off, before, one, other, two, rest],
      }),
    }
  }
  const whole = await runInProcesses({ open }, [])
  for (let cut = 0; cut <= whole.writes; cut += 1) {
    const { events } = await runInProcesses({ open }, cut === 0 ? [] : [cut])
    const reasons = eventsOf(events, 'task_skipped').map(({ taskName, reason }) => [
      taskName,
      reason,
    ])
    expect({ cut, reasons: Object.fromEntries(reasons) }).toEqual({
      cut,
      reasons: {
        off: 'Its condition is false',
        before: 'Task "off" was skipped',
        other: 'Switch "s" chose task "one"',
        rest: 'Switch "t" chose task "two"',
      },
    })
  }
})
