/** Tests conditions and switches: the rules of SPEC.md, part X. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import {
  condition,
  ensemble,
  task,
  type EnsembleDefinition,
  type Inputs,
  type Task,
  type TaskDefinition,
} from '../src/index.ts'
import { describeCode } from '../src/internal.ts'
import { forkEverywhere, interruptEverywhere, runInProcesses } from './interrupt-everywhere.ts'
import { runToEnd, startRecorded } from './recorded-run.ts'
import { eventsOf, watchRun } from './watch-run.ts'

import type { RunEvent } from '@tutti/protocol'

const Kind = Type.Enum(['bug', 'question', 'praise'])

/** Returns a task that answers `name(outputs of its context)`. */
function say(name: string, more: Partial<TaskDefinition<undefined>> = {}): Task<string> {
  return task({
    name,
    description: `Do ${name}`,
    handler: ({ context }) => `${name}(${context.map(({ output }) => output).join()})`,
    ...more,
  })
}

function classify(kind: 'bug' | 'question' | 'praise') {
  return task({ name: 'classify', description: 'Classify', output: Kind, handler: () => kind })
}

async function runTasks(
  tasks: readonly Task[],
  {
    inputs = {},
    ...settings
  }: Partial<Omit<EnsembleDefinition, 'inputs'>> & { readonly inputs?: Inputs } = {},
) {
  const team = ensemble({ name: 'team', workflow: 'PARALLEL', ...settings, tasks })
  const { events, ended } = watchRun(team, { inputs })
  return { result: await ended, events, skipped: listSkips(events) }
}

function listSkips(events: readonly RunEvent[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    eventsOf(events, 'task_skipped').map(({ taskName, reason }) => [taskName, reason]),
  )
}

describe('a condition', () => {
  it('[ENS-X1] A condition on inputs is evaluated at the start and skips its task', async () => {
    const only = task({
      name: 'only',
      description: 'Write for {reader}',
      when: ({ inputs }) => inputs['reader'] === 'children',
      handler: () => 'written',
    })
    const first = await runTasks([say('a'), only], { inputs: { reader: 'experts' } })
    expect(first.result).toMatchObject({ status: 'COMPLETED', output: 'a()' })
    expect(first.result.outputOf(only)).toBeUndefined()
    expect(first.skipped).toEqual({ only: 'Its condition is false' })
    const second = await runTasks([say('a'), only], { inputs: { reader: 'children' } })
    expect(second.result).toMatchObject({ status: 'COMPLETED', output: 'written' })
  })

  it('[ENS-X1] [ENS-X2] A condition on outputs waits for them without adding them to the context', async () => {
    const seen: unknown[] = []
    const kind = classify('bug')
    const fix = say('fix', {
      when: condition(
        [kind, say('other')],
        (outputs: readonly unknown[]) => seen.push(outputs) === 1,
        'it is a bug',
      ),
    })
    const never = say('never', { when: condition(kind, () => false, 'never') })
    const { result, skipped } = await runTasks([never, fix, kind, say('other')])
    expect(seen).toEqual([['bug', 'other()']])
    expect(result.tasks.map(({ output }) => output)).toEqual(['fix()', 'bug', 'other()'])
    expect(skipped).toEqual({ never: 'Its condition is false: never' })
  })

  it('[ENS-X1] A task that failed or was skipped has the output undefined', async () => {
    const broken = task({
      name: 'broken',
      description: 'Break',
      handler: () => {
        throw new Error('No')
      },
    })
    const skipped = say('skipped', { when: () => false })
    const seen: unknown[] = []
    const rescue = say('rescue', {
      when: condition(
        [broken, skipped],
        (outputs: readonly unknown[]) => seen.push(...outputs) === 2,
      ),
    })
    const { result } = await runTasks([broken, skipped, rescue], {
      errorStrategy: 'CONTINUE_ON_ERROR',
    })
    expect(seen).toEqual([undefined, undefined])
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['rescue'])
    expect(result.status).toBe('FAILED')
  })

  it.each([
    [() => JSON.parse('"yes"'), 'must return true or false, got "yes"'],
    [() => Promise.reject(new Error('late')), 'must return true or false, got a promise'],
    [
      () => {
        throw new Error('No such field')
      },
      'failed: No such field',
    ],
  ] as const)(
    '[ENS-X4] A condition that does not return a boolean fails its task (%#)',
    async (when, expected) => {
      const odd = say('odd', { when: when as () => boolean })
      const { result, events } = await runTasks([odd, say('b', { context: ['odd'] })])
      expect(result).toMatchObject({
        status: 'FAILED',
        error: {
          code: 'CONSTRAINT_VIOLATION',
          message: `The condition of task "odd" ${expected}`,
        },
      })
      expect(eventsOf(events, 'task_failed').map(({ taskName }) => taskName)).toEqual(['odd'])
    },
  )

  it('[ENS-X5] A dependent runs if one task of its context ran, and is skipped if none did', async () => {
    const off = say('off', { when: () => false })
    const some = say('some', { context: ['off', 'on'] })
    const none = say('none', { context: ['off'] })
    const after = say('after', { context: ['none'] })
    const { result, skipped } = await runTasks([off, say('on'), some, none, after])
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'some(on())' })
    expect(skipped).toEqual({
      off: 'Its condition is false',
      none: 'Task "off" was skipped',
      after: 'Task "none" was skipped',
    })
  })

  it('[ENS-X5] A task that maps the output of a skipped task is skipped, even if it receives others', async () => {
    const list = task({
      name: 'list',
      description: 'List',
      output: Type.Array(Type.String()),
      handler: () => ['x'],
      when: () => false,
    })
    const each = task({
      name: 'each',
      description: 'Do {item}',
      handler: () => 'done',
      context: ['on'],
      forEach: { over: list },
    })
    const { result, skipped } = await runTasks([say('on'), list, each])
    expect(result.status).toBe('COMPLETED')
    expect(skipped['each']).toBe('Task "list" was skipped')
  })

  it('[ENS-X2] A condition applies to a task for each item as a whole', async () => {
    const each = (runs: boolean) =>
      task({
        name: 'each',
        description: 'Do {item}',
        handler: ({ description }) => description,
        when: () => runs,
        forEach: { over: 'items' },
      })
    const inputs = { items: '["x","y"]' }
    const first = await runTasks([say('a'), each(true)], { inputs })
    expect(first.result.tasks.map(({ taskName }) => taskName)).toEqual([
      'a',
      'each',
      'each/0',
      'each/1',
    ])
    const second = await runTasks([say('a'), each(false)], { inputs })
    expect(second.result.tasks.map(({ taskName }) => taskName)).toEqual(['a'])
  })

  it('[ENS-X2] A copy of a task keeps its condition, and SEQUENTIAL follows a skipped task', async () => {
    const off = say('off', { when: () => false })
    const { result, skipped } = await runTasks(
      [say('a'), task({ ...off, name: 'copy' }), say('b'), say('c', { context: ['a', 'copy'] })],
      { workflow: 'SEQUENTIAL' },
    )
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'c(a())' })
    expect(Object.keys(skipped)).toEqual(['copy'])
  })
})

describe('a switch', () => {
  const route = (kind: 'bug' | 'question' | 'praise', hasElse: boolean) => {
    const sorted = classify(kind)
    return [
      sorted,
      say('fix', { switch: 'route', when: condition(sorted, (is) => is === 'bug') }),
      say('answer', {
        switch: 'route',
        when: condition(sorted, (is) => is !== 'praise', 'it is no praise'),
      }),
      ...(hasElse ? [say('thank', { switch: 'route' })] : []),
      say('send', { context: ['fix', 'answer', ...(hasElse ? ['thank'] : [])] }),
    ]
  }

  it.each([
    ['bug', 'send(fix())'],
    ['question', 'send(answer())'],
    ['praise', 'send(thank())'],
  ] as const)('[ENS-X3] A switch runs the first case that matches: %s', async (kind, output) => {
    const { result } = await runTasks(route(kind, true))
    expect(result).toMatchObject({ status: 'COMPLETED', output })
  })

  it('[ENS-X3] The reasons of a switch name the chosen case and the false conditions', async () => {
    const { skipped } = await runTasks(route('bug', true))
    expect(skipped).toEqual({
      answer: 'Switch "route" chose task "fix"',
      thank: 'Switch "route" chose task "fix"',
    })
    const other = await runTasks(route('praise', true))
    expect(other.skipped).toEqual({
      fix: 'Its condition is false',
      answer: 'Its condition is false: it is no praise',
    })
  })

  it('[ENS-X6] A switch without a match fails the task that needs it, and nothing else starts', async () => {
    const [sorted, ...rest] = route('praise', false)
    const { result, events } = await runTasks([
      ...(sorted === undefined ? [] : [sorted]),
      ...rest,
      say('later', { context: ['classify'] }),
    ])
    expect(result.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message:
        'No case of switch "route" matches, but task "send" needs the output of one. ' +
        'Cases: "fix", "answer". Add a case without a condition',
    })
    expect(eventsOf(events, 'task_started').map(({ taskName }) => taskName)).toEqual([
      'classify',
      'send',
    ])
  })

  it('[ENS-X3] A switch without a match that no task needs skips all its cases', async () => {
    const tasks = route('praise', false).filter(({ name }) => name !== 'send')
    const { result, skipped } = await runTasks(tasks)
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'praise' })
    expect(Object.keys(skipped)).toEqual(['fix', 'answer'])
  })
})

describe('a sub-ensemble', () => {
  const inner = (kind: 'bug' | 'praise') => {
    const sorted = classify(kind)
    return ensemble({
      name: 'inner',
      workflow: 'PARALLEL',
      tasks: [
        sorted,
        say('fix', { switch: 's', when: condition(sorted, (is) => is === 'bug') }),
        say('no', { switch: 's', when: condition(sorted, (is) => is === 'question') }),
        say('extra', { context: ['fix', 'classify'], when: ({ inputs }) => inputs['x'] === '1' }),
      ],
    })
  }

  it('[ENS-X2] [ENS-X3] [ENS-P14] A sub-ensemble applies its conditions to its own inputs', async () => {
    const sub = task({ name: 'sub', ensemble: inner('bug') })
    const { result } = await runTasks([sub], { inputs: { x: '0' } })
    expect(result.output).toBe('fix()')
    const more = await runTasks([sub], { inputs: { x: '1' } })
    expect(more.result.output).toBe('extra(bug,fix())')
  })

  it('[ENS-X6] A sub-ensemble fails if no case matches that one of its tasks needs', async () => {
    const sub = task({ name: 'sub', ensemble: inner('praise') })
    const { result } = await runTasks([sub], { inputs: { x: '1' } })
    expect(result.error?.message).toContain('No case of switch "s" matches')
  })

  it('[ENS-X2] A sub-ensemble whose tasks are all skipped fails', async () => {
    const nothing = ensemble({ name: 'nothing', tasks: [say('a', { when: () => false })] })
    const { result } = await runTasks([task({ name: 'sub', ensemble: nothing })])
    expect(result.error?.message).toBe(
      'No task of ensemble "nothing" ran: their conditions skip all of them',
    )
  })
})

describe('the record of a choice', () => {
  /** Counts evaluations in `stored`, and runs a route, a condition and a sub-ensemble. */
  const open = (
    process: { readonly world: { readonly stored: Map<string, unknown> } },
    { hasSub = true } = {},
  ) => {
    const count = (name: string): true => {
      const { stored } = process.world
      stored.set(name, Number(stored.get(name) ?? 0) + 1)
      return true
    }
    const sorted = classify('question')
    const inner = ensemble({
      name: 'inner',
      workflow: 'PARALLEL',
      tasks: [
        sorted,
        say('yes', { when: condition(sorted, (is) => count('yes') && is === 'question') }),
        say('no', { when: condition(sorted, (is) => count('no') && is === 'bug') }),
      ],
    })
    const tasks = [
      sorted,
      say('fix', { switch: 'route', when: condition(sorted, (is) => is === 'bug') }),
      say('answer', { switch: 'route', when: condition(sorted, (is) => is === 'question') }),
      say('thank', { switch: 'route' }),
      say('off', { when: () => count('off') && false }),
      say('after', { context: ['off'] }),
      ...(hasSub ? [task({ name: 'sub', ensemble: inner, context: ['fix', 'answer'] })] : []),
      say('send', { context: ['fix', 'answer', 'thank', 'after', ...(hasSub ? ['sub'] : [])] }),
    ]
    return { team: ensemble({ name: 'routed', workflow: 'PARALLEL', tasks }) }
  }

  it('[ENS-X7] A routed run that is interrupted anywhere ends the same', async () => {
    const { result } = await interruptEverywhere({ open, anyOrder: true })
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'send(answer(),yes())' })
  })

  it('[ENS-X7] A fork of a routed run anywhere has the same history', async () => {
    const { result } = await forkEverywhere({ open, anyOrder: true })
    expect(result.output).toBe('send(answer(),yes())')
  })

  it('[ENS-X7] A resumed run does not evaluate a condition again whose task was skipped', async () => {
    const { steps, world } = await runInProcesses(
      { open: (process) => open(process, { hasSub: false }) },
      [6, 6, 6],
    )
    expect(world.stored.get('off')).toBe(1)
    const skips = steps.filter(({ kind }) => kind === 'task_skipped')
    expect(skips).toMatchObject([
      { taskName: 'off', excluded: true, chosen: null },
      { taskName: 'after', excluded: true },
      { taskName: 'fix', excluded: true, chosen: 'answer' },
      { taskName: 'thank', excluded: true, chosen: 'answer' },
    ])
  })
})

describe('a replay of a routed run', () => {
  /** Creates a team whose conditions return this value. */
  const createTeam = (isOn: boolean) => {
    const calls: string[] = []
    const when = () => {
      calls.push('when')
      return isOn
    }
    const inner = ensemble({ name: 'inner', tasks: [say('x', { when }), say('y')] })
    const tasks = [
      say('a', { switch: 's', when }),
      say('b', { switch: 's' }),
      say('c', { when }),
      task({ name: 'sub', ensemble: inner }),
    ]
    return { team: ensemble({ name: 'team', workflow: 'SEQUENTIAL', tasks }), calls }
  }

  it.each([
    ['frozen', true],
    ['frozen', false],
    ['models', true],
    ['models', false],
  ] as const)(
    '[ENS-X7] A replay of a routed run makes no choice again (%s, %j)',
    async (replay, isOn) => {
      const recorded = startRecorded(createTeam(isOn).team)
      const whole = await runToEnd(recorded)
      const { team, calls } = createTeam(!isOn)
      const forked = { kind: 'run_forked', runMs: 0, startedAt: 0 } as const
      const again = startRecorded(team, { resume: { steps: [...recorded.steps, forked], replay } })
      const result = await runToEnd(again)
      expect(result.status).toBe('COMPLETED')
      expect(calls).toEqual([])
      const outputsOf = (tasks: typeof result.tasks) =>
        tasks.map(({ taskName, output }) => `${taskName} ${output}`)
      expect(outputsOf(result.tasks).toSorted()).toEqual(outputsOf(whole.tasks).toSorted())
      expect(Object.keys(listSkips(again.events))).toEqual(Object.keys(listSkips(recorded.events)))
    },
  )
})

describe('the last tasks of a plan', () => {
  const on = (name: string, more: Partial<TaskDefinition<undefined>> = {}) => say(name, more)
  const when = () => true
  it.each<[string, readonly Task[], readonly string[]]>([
    ['no conditions', [on('a'), on('b')], ['b']],
    ['an earlier condition', [on('a', { when }), on('b')], ['b']],
    ['a condition of the last task', [on('a'), on('b'), on('c', { when })], ['b', 'c']],
    [
      'a switch with else',
      [on('a'), on('b', { switch: 's', when }), on('c', { switch: 's' })],
      ['b', 'c'],
    ],
    [
      'a switch without else',
      [on('a'), on('b', { switch: 's', when }), on('c', { switch: 's', when })],
      ['a', 'b', 'c'],
    ],
    [
      'a task that needs a switch with else',
      [on('b', { switch: 's', when }), on('c', { switch: 's' }), on('d', { context: ['b', 'c'] })],
      ['d'],
    ],
    [
      'a task whose whole context can be skipped',
      [on('a'), on('b', { when }), on('c', { context: ['b'] })],
      ['a', 'b', 'c'],
    ],
    ['only tasks with conditions', [on('a', { when }), on('b', { when })], ['a', 'b']],
  ])('[ENS-G11] A plan knows which tasks can have the output of the run: %s', (_, tasks, last) => {
    expect(ensemble({ name: 'team', tasks, workflow: 'PARALLEL' }).plan.lastTasks).toEqual(last)
  })

  it('[ENS-G11] AFTER_LAST_TASK reviews the output of the run, also when the last task is skipped', async () => {
    const tasks = [say('a'), say('b', { when: () => false })]
    const team = ensemble({ name: 'team', tasks, reviewPolicy: 'AFTER_LAST_TASK' })
    const asked: string[] = []
    const result = await team.run(
      {},
      {
        reviewer: {
          decide: ({ taskName }) => {
            asked.push(taskName)
            return Promise.resolve({ action: 'EDIT', text: 'edited' })
          },
        },
      },
    )
    expect(asked).toEqual(['a'])
    expect(result.output).toBe('edited')
  })
})

describe('[ENS-X8] the checks of conditions', () => {
  const problemsOf = (tasks: readonly Task[], workflow: EnsembleDefinition['workflow']) => {
    try {
      ensemble({ name: 'team', tasks, ...(workflow === undefined ? {} : { workflow }) })
      return []
    } catch (error) {
      return (error as { details: { problems: readonly string[] } }).details.problems
    }
  }
  const a = say('a')
  const is = () => true

  it.each<[string, readonly Task[], EnsembleDefinition['workflow'], readonly string[]]>([
    [
      'unknown tasks',
      [say('b', { when: condition(a, is) })],
      'PARALLEL',
      ['task "b": when reads an unknown task "a". Available: [b]'],
    ],
    [
      'tasks declared later in SEQUENTIAL',
      [say('b', { when: condition(a, is) }), a],
      'SEQUENTIAL',
      ['task "b": when reads "a", which must be declared before it in SEQUENTIAL'],
    ],
    [
      'tasks declared after the first case in SEQUENTIAL',
      [say('b', { switch: 's', when: is }), a, say('c', { switch: 's', when: condition(a, is) })],
      'SEQUENTIAL',
      [
        'task "c": when reads "a", which must be declared before "b", the first case of its switch, in SEQUENTIAL',
      ],
    ],
    [
      'cycles through conditions',
      [say('a', { context: ['b'] }), say('b', { when: condition(a, is) })],
      'PARALLEL',
      ['Tasks form a cycle: a → b → a'],
    ],
    [
      'cycles through another case',
      [
        say('a', { context: ['b'] }),
        say('b', { switch: 's', when: is }),
        say('c', { switch: 's', when: condition(a, is) }),
      ],
      'PARALLEL',
      ['Tasks form a cycle: a → b → a'],
    ],
    [
      'a task that reads itself',
      [say('a', { when: condition(a, is) })],
      'PARALLEL',
      ['task "a": when cannot read the task itself'],
    ],
    [
      'cases that need each other, and an else that is not last',
      [
        say('a', { switch: 's' }),
        say('b', { switch: 's', when: condition(a, is) }),
        say('c', { switch: 's', when: is, context: ['b'] }),
      ],
      'PARALLEL',
      [
        'task "a": it has no condition (when), so it must be the last case of switch "s"',
        'task "b": when reads "a", which is a case of the same switch',
        'task "c": context "b" is another case of its switch, so only one of them can run',
      ],
    ],
    [
      'a switch without a condition',
      [say('a', { switch: 's' })],
      'PARALLEL',
      ['switch "s" needs a case with a condition (when)'],
    ],
  ])('The checks of conditions find %s', (_, tasks, workflow, expected) => {
    expect(problemsOf(tasks, workflow)).toEqual(expected)
  })

  it('A condition has no effect in HIERARCHICAL', () => {
    const tasks = [task({ name: 'b', description: 'Do b', when: is })]
    expect(problemsOf(tasks, 'HIERARCHICAL')).toContain(
      'task "b": when and switch have no effect in HIERARCHICAL: the manager chooses the tasks',
    )
  })

  it('task() refuses a condition that is neither a function nor made by condition()', () => {
    const when = JSON.parse('{"on":[],"is":1}')
    expect(() => say('a', { when, switch: ' ' })).toThrow(
      'Cannot create task "a": switch must be a name, got " "; ' +
        'when must be a function or a condition(), got {"on":[],"is":1}',
    )
  })

  it('condition() reports every problem of a condition', () => {
    const [on, other, text] = JSON.parse('[[],1,2]')
    expect(() => condition(on, other, text)).toThrow(
      'Cannot create a condition: on must be a task of task(), or a list of at least one, got []; ' +
        'is must be a function, got 1; text must be a text, got 2',
    )
  })

  it('A handler cannot add a task with a condition', async () => {
    const child = say('child', { when: is })
    const parent = task({
      name: 'parent',
      description: 'Add',
      handler: async (context) => context.task(child),
    })
    const { result } = await runTasks([parent])
    expect(result.error?.message).toContain(
      'when and switch apply only to tasks of an ensemble: use if in the handler',
    )
  })

  it('[ENS-V2] A manifest has the switch, the tasks and the text of a condition', () => {
    const b = say('b', { switch: 's', when: condition(a, is, 'always') })
    const { tasks } = describeCode(ensemble({ name: 'team', tasks: [a, b] })).manifest
    expect(tasks['b']).toMatchObject({
      switch: 's',
      when: { reads: ['a'], test: 'function', text: 'always' },
    })
    expect(tasks['a']).not.toHaveProperty('when')
  })
})
