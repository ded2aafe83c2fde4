/** Tests of tasks that are repeated. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { condition, ensemble, task } from '../src/index.ts'
import { describeCode } from '../src/internal.ts'
import { runToEnd, startRecorded } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf, nextTurn, watchRun } from './watch-run.ts'

import type { Loop, ReviewAnswer, RunReviewer, Task } from '../src/index.ts'
import type { OpenReview } from '../src/internal.ts'

const Draft = Type.Object({ text: Type.String(), score: Type.Integer() })

/** Returns a task whose output is its description. */
function repeat(description: string, loop: Loop<string>) {
  return task({ name: 'refine', description, loop, handler: (context) => context.description })
}

function run(body: Task, options: Parameters<typeof watchRun>[1] = {}) {
  return watchRun(ensemble({ name: 'team', tasks: [body] }), options).ended
}

/** Returns a judge that ends the loop in a round. */
function judgeUntil(round: number) {
  return task({
    name: 'judge',
    description: 'Judge',
    output: Type.Object({ done: Type.Boolean(), feedback: Type.Optional(Type.String()) }),
    handler: ({ inputs }) => ({
      done: inputs['round'] === String(round),
      feedback: `${inputs['output']} is too short`,
    }),
  })
}

/** Returns a reviewer that decides in this order, and the reviews that it received. */
function reviewWith(...answers: readonly ReviewAnswer[]) {
  const asked: OpenReview[] = []
  const reviewer: RunReviewer = {
    async decide(review) {
      asked.push(review)
      const answer = answers[asked.length - 1]
      if (answer === undefined) throw new Error('No more answers')
      return answer
    },
  }
  return { reviewer, asked }
}

describe('[ENS-P18] a task with loop', () => {
  it('A loop adds its body for each round until its condition is true, and its output is the last one', async () => {
    const refine = repeat('Round {round} for {reader}', {
      max: 9,
      until: (output, { round, outputs, inputs }) =>
        output.endsWith('Ada') && round === 3 && outputs.length === 3 && inputs['reader'] === 'Ada',
    })
    const last = task({
      name: 'last',
      description: 'End',
      context: [refine],
      handler: ({ context }) => context[0]?.output ?? '',
    })
    const team = ensemble({ name: 'team', tasks: [refine, last] })
    const { events, ended } = watchRun(team, { inputs: { reader: 'Ada' } })
    const result = await ended
    expect(result.output).toBe('Round 3 for Ada')
    expect(result.outputOf(refine)).toBe('Round 3 for Ada')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'refine',
      'last',
      'refine/1',
      'refine/2',
      'refine/3',
    ])
    expect(eventsOf(events, 'ensemble_started')[0]?.tasks[0]).toMatchObject({
      name: 'refine',
      description: 'Round {round} for Ada',
    })
    expect(eventsOf(events, 'delegation_started')[1]).toMatchObject({
      workerTask: 'refine/2',
      taskDescription: 'Round 2 for Ada',
    })
  })

  it('A loop ends when a round has the output of the one before, also with its keys in another order', async () => {
    const judged: string[] = []
    const refine = task({
      name: 'refine',
      description: 'Refine',
      output: Draft,
      handler: ({ inputs }) => {
        const round = Number(inputs['round'])
        const text = round < 3 ? `draft ${round}` : 'draft 2'
        return round === 2 ? { score: 1, text } : { text, score: 1 }
      },
      loop: {
        max: 9,
        stopWhenUnchanged: true,
        until(output) {
          judged.push(output.text)
          return false
        },
      },
    })
    const result = await run(refine)
    expect(result.outputOf(refine)).toEqual({ text: 'draft 2', score: 1 })
    expect(result.tasks).toHaveLength(4)
    expect(judged).toEqual(['draft 1', 'draft 2'])
  })

  it('With `all` the output of a loop is the list of the outputs of all rounds', async () => {
    const refine = task({
      name: 'refine',
      description: 'Refine',
      output: Draft,
      handler: ({ inputs }) => ({ text: 'x', score: Number(inputs['round']) }),
      loop: { max: 3, result: 'all', until: ({ score }) => score === 2 },
    })
    const each = task({
      name: 'each',
      description: 'Show {item.score}',
      forEach: { over: refine },
      handler: ({ description }) => description,
    })
    const team = ensemble({ name: 'team', tasks: [refine, each] })
    const result = await team.run()
    expect(result.outputOf(refine)?.map(({ score }) => score)).toEqual([1, 2])
    expect(result.outputOf(each)).toEqual(['Show 1', 'Show 2'])
  })

  it('With `all` a loop fails at the round with which its outputs are too long together', async () => {
    const write = task({
      name: 'write',
      description: 'Write',
      handler: () => 'x'.repeat(3_000_000),
    })
    const all = task({ ...write, loop: { max: 9, result: 'all' } })
    const result = await run(all)
    expect(result.error).toMatchObject({
      code: 'TASK_FAILED',
      message:
        'The outputs of 3 rounds of task "write" have 9000000 characters. ' +
        'With result "all" a loop can have 8000000; use result "last", or shorter outputs',
    })
    expect(result.tasks).toHaveLength(3)
    const last = task({ ...write, loop: { max: 4 } })
    expect((await run(last)).status).toBe('COMPLETED')
  })

  it('The body of a loop can be an ensemble, and a loop can be the body of forEach', async () => {
    const page = ensemble({
      name: 'page',
      tasks: [
        task({ name: 'draft', description: '{topic} {round}', handler: (c) => c.description }),
        task({
          name: 'check',
          description: 'Check after {previous}',
          context: ['draft'],
          output: Draft,
          handler: ({ context, description }) => ({
            text: `${context[0]?.output} ${description}`,
            score: 1,
          }),
        }),
      ],
    })
    const pages = task({
      ensemble: page,
      name: 'pages',
      inputs: { topic: '{word}' },
      forEach: { over: 'words', as: 'word' },
      loop: { max: 9, until: (output, { round }) => output.score === 1 && round === 2 },
    })
    const result = await run(pages, { inputs: { words: '["tea","fog"]' } })
    expect(result.outputOf(pages)?.map(({ text }) => text)).toEqual([
      'tea 2 Check after {"text":"tea 1 Check after ","score":1}',
      'fog 2 Check after {"text":"fog 1 Check after ","score":1}',
    ])
    expect(result.tasks.map(({ taskName }) => taskName)).toContain('pages/1/2/check')
  })

  it('A round that fails fails its loop, and retries of the body repeat only the round', async () => {
    const refine = task({
      name: 'refine',
      description: 'Refine',
      retries: 1,
      loop: { max: 3, until: () => false, onMax: 'accept' },
      handler({ inputs, attempt }) {
        if (inputs['round'] === '2' && attempt === 1) throw new Error('Broke once')
        if (inputs['round'] === '3') throw new Error('Broke')
        return 'fine'
      },
    })
    const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [refine] }))
    const { status, error } = await ended
    expect(status).toBe('FAILED')
    expect(error).toMatchObject({ code: 'TASK_FAILED', message: 'Broke' })
    expect(eventsOf(events, 'task_started').map(({ taskName }) => taskName)).toEqual([
      'refine',
      'refine/1',
      'refine/2',
      'refine/2',
      'refine/3',
      'refine/3',
    ])
  })

  it('[ENS-B1] The budget of the run is checked before each round', async () => {
    const refine = task({ name: 'refine', description: 'Write', loop: { max: 9 } })
    const model = scriptedModel(['one', 'two', 'three'])
    const team = ensemble({ name: 'team', model, tasks: [refine] })
    const { error, tasks } = await team.run({}, { budget: { maxModelCalls: 2 } })
    expect(error?.code).toBe('BUDGET_EXCEEDED')
    expect(model.requests).toHaveLength(2)
    expect(tasks.map(({ taskName }) => taskName)).toEqual(['refine/1', 'refine/2'])
  })

  it('A frozen replay of a loop has its rounds, its verdicts and its output, and calls nothing', async () => {
    let calls = 0
    const refine = task({
      name: 'refine',
      description: 'Round {round}',
      loop: { max: 9, until: { judge: judgeUntil(2) } },
      handler({ description }) {
        calls += 1
        return description
      },
    })
    const team = ensemble({ name: 'team', tasks: [refine] })
    const whole = startRecorded(team)
    const { output } = await runToEnd(whole)
    const forked = { kind: 'run_forked', runMs: 0, startedAt: 0 } as const
    const resume = { steps: [...whole.steps, forked], replay: 'frozen' } as const
    const again = await runToEnd(startRecorded(team, { resume }))
    expect(again.output).toBe(output)
    expect(again.tasks).toHaveLength(5)
    expect(calls).toBe(2)
  })

  it('[ENS-V2] The digest of an ensemble covers the settings, the body and the judge of a loop', () => {
    const digestOf = (description: string, round: number, max = 9): string => {
      const judge = { ...judgeUntil(round), description: `Judge ${round}` }
      const team = ensemble({
        name: 'team',
        tasks: [repeat(description, { max, until: { judge } })],
      })
      return describeCode(team).digest
    }
    expect(digestOf('Do', 1)).toBe(digestOf('Do', 1))
    expect(digestOf('Do', 1, 8)).not.toBe(digestOf('Do', 1))
    expect(digestOf('Do', 2)).not.toBe(digestOf('Do', 1))
    expect(digestOf('Do it', 1)).not.toBe(digestOf('Do', 1))
  })
})

describe('[ENS-P19] the condition of a loop', () => {
  it('A judge gets the output and the variables of its round, and its feedback is in the next one', async () => {
    const prompts: string[] = []
    const model = scriptedModel(({ messages }) => {
      const text = messages.at(-1)?.content ?? ''
      const line = /^(?:Joke|Grade).*/m.exec(text)?.[0] ?? '?'
      prompts.push(line)
      if (line.startsWith('Joke')) return `A joke with {round} ${prompts.length}`
      return prompts.length === 2
        ? '{"done":false,"feedback":"Use {topic}"}'
        : '{"done":true,"feedback":null}'
    })
    const judge = task({
      name: 'grade',
      description: 'Grade {output} in round {round} for {reader}',
      output: Type.Object({
        done: Type.Boolean(),
        feedback: Type.Union([Type.String(), Type.Null()]),
      }),
    })
    const joke = task({
      name: 'joke',
      description: 'Joke about {topic} not {previous}, and {feedback}',
      loop: { max: 5, until: { judge } },
    })
    const team = ensemble({ name: 'team', model, tasks: [joke] })
    const result = await watchRun(team, { inputs: { topic: 'tea', reader: 'Ada' } }).ended
    expect(prompts).toEqual([
      'Joke about tea not , and ',
      'Grade A joke with {round} 1 in round 1 for Ada',
      'Joke about tea not A joke with {round} 1, and Use {topic}',
      'Grade A joke with {round} 3 in round 2 for Ada',
    ])
    expect(result.output).toBe('A joke with {round} 3')
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'joke',
      'joke/1',
      'joke/judge-1',
      'joke/2',
      'joke/judge-2',
    ])
    await expect(team.run({ topic: 'tea' })).rejects.toThrow('missing inputs: reader')
  })

  it('The answer of a judge can be a boolean, and its texts can name fields of the output', async () => {
    const judge = task({
      name: 'judge',
      description: '{output.score}',
      output: Type.Boolean(),
      handler: ({ description }) => description === '3',
    })
    const refine = task({
      name: 'refine',
      description: '{previous.score}.',
      output: Draft,
      handler: ({ inputs, description }) => ({
        text: description,
        score: Number(inputs['round']),
      }),
      loop: { max: 9, until: { judge } },
    })
    expect((await run(refine)).outputOf(refine)).toEqual({ text: '2.', score: 3 })
  })

  it('A condition that throws, or returns something else than a boolean, fails its task', async () => {
    const { error } = await run(repeat('Do', { max: 2, until: (() => 'yes') as never }))
    expect(error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'The condition of the loop of task "refine" must return true or false, got "yes"',
    })
    const late = (() => Promise.reject(new Error('late'))) as never
    expect((await run(repeat('Do', { max: 2, until: late }))).error).toMatchObject({
      message: expect.stringContaining('must return true or false, got a promise'),
    })
    const until = (): boolean => {
      throw new Error('No scale')
    }
    expect((await run(repeat('Do', { max: 2, until }))).error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'The condition of the loop of task "refine" failed: No scale',
    })
  })

  it('A task with loop and when is repeated if its condition is true, and skipped otherwise', async () => {
    const first = task({ name: 'first', description: 'Go', handler: () => 'go' })
    const refine = task({
      name: 'refine',
      description: '{round}',
      when: condition(first, (output, { inputs }) => output === inputs['word']),
      loop: { max: 2 },
      handler: (context) => context.description,
    })
    const team = ensemble({ name: 'team', tasks: [first, refine] })
    expect((await team.run({ word: 'go' })).outputOf(refine)).toBe('2')
    const skipped = await team.run({ word: 'stop' })
    expect(skipped.status).toBe('COMPLETED')
    expect(skipped.tasks.map(({ taskName }) => taskName)).toEqual(['first'])
  })

  it('A judge whose answer is not a verdict fails its task', async () => {
    const judge = task({
      name: 'judge',
      description: 'Judge',
      output: Type.Unknown(),
      handler: () => ({ done: 'yes' }),
    })
    const { error } = await run(repeat('Do', { max: 2, until: { judge: judge as never } }))
    expect(error).toMatchObject({
      code: 'OUTPUT_INVALID',
      message:
        'The output of judge "refine/judge-1" must be a boolean, or { done: boolean, feedback: text }',
    })
  })
})

describe('[ENS-P20] the variables of a round', () => {
  /** Returns what `{history}` is in each round. */
  async function historyOf(loop: Partial<Loop<string>>): Promise<readonly string[]> {
    const seen: string[] = []
    const refine = task({
      name: 'refine',
      description: 'Do',
      loop: { max: 4, until: { judge: judgeUntil(9) }, onMax: 'accept', ...loop },
      handler({ inputs }) {
        seen.push(inputs['history'] ?? 'none')
        return `v${inputs['round']}`
      },
    })
    await run(refine)
    return seen
  }

  const one = 'Round 1:\n\nv1\n\nFeedback: v1 is too short'
  const two = 'Round 2:\n\nv2\n\nFeedback: v2 is too short'
  const three = 'Round 3:\n\nv3\n\nFeedback: v3 is too short'
  const between = '\n\n---\n\n'

  it('The variable {history} has the last round, all rounds, or a window of them, and is empty in round 1', async () => {
    expect(await historyOf({})).toEqual(['', one, two, three])
    expect(await historyOf({ history: 'last' })).toEqual(['', one, two, three])
    const both = [two, three].join(between)
    expect(await historyOf({ history: { window: 2 } })).toEqual([
      '',
      one,
      [one, two].join(between),
      both,
    ])
    expect(await historyOf({ history: 'all' })).toEqual([
      '',
      one,
      [one, two].join(between),
      [one, both].join(between),
    ])
  })

  it('The variable {history} leaves out older rounds beyond its tokens, says which, and always has the newest one', async () => {
    // Two rounds and their separators are 98 characters.
    expect((await historyOf({ history: { maxTokens: 25 } }))[3]).toBe(
      ['(Rounds before 2 are left out.)', two, three].join(between),
    )
    expect((await historyOf({ history: { maxTokens: 1 } }))[3]).toBe(
      ['(Rounds before 3 are left out.)', three].join(between),
    )
  })
})

describe('[ENS-P21] the end of the last round', () => {
  it('A loop fails after its last round with the feedback of its judge, unless it accepts the last output', async () => {
    const until = { judge: judgeUntil(9) }
    const failed = await run(repeat('Do {round}', { max: 2, until }))
    expect(failed.error).toMatchObject({
      code: 'TASK_FAILED',
      message:
        'The loop of task "refine" has not met its condition after 2 rounds: Do 2 is too short',
    })
    const accepted = await run(repeat('Do {round}', { max: 2, until, onMax: 'accept' }))
    expect(accepted.output).toBe('Do 2')
    const changing = await run(repeat('Do {round}', { max: 2, stopWhenUnchanged: true }))
    expect(changing.error?.code).toBe('TASK_FAILED')
    expect((await run(repeat('Do {round}', { max: 2 }))).output).toBe('Do 2')
  })

  it('A person accepts the last output, or replaces it with a valid one', async () => {
    const refine = task({
      name: 'refine',
      description: 'Refine',
      output: Draft,
      handler: ({ inputs }) => ({ text: 'x', score: Number(inputs['round']) }),
      loop: { max: 2, onMax: 'review', result: 'all' },
    })
    const accepting = reviewWith({ action: 'CONTINUE' })
    const accepted = await run(refine, { reviewer: accepting.reviewer })
    expect(accepted.outputOf(refine)?.map(({ score }) => score)).toEqual([1, 2])
    expect(accepting.asked[0]).toMatchObject({
      kind: 'QUESTION',
      prompt:
        'Task "refine" has ended round 2. Continue to accept its output, edit it, or reject it with feedback for another round.' +
        '\n\n{"text":"x","score":2}',
    })
    const editing = reviewWith({ action: 'EDIT', input: { text: 'y', score: 7 } })
    const edited = await run(refine, { reviewer: editing.reviewer })
    expect(edited.outputOf(refine)).toEqual([
      { text: 'x', score: 1 },
      { text: 'y', score: 7 },
    ])
  })

  it('A rejection with feedback orders another round, which the same person decides on, up to maxRevisions', async () => {
    const again: ReviewAnswer = { action: 'REJECT', feedback: 'More {salt}' }
    const judged: number[] = []
    const refine = repeat('Do {round} {feedback}', {
      max: 1,
      until(_, { round }) {
        judged.push(round)
        return false
      },
      onMax: { review: { maxRevisions: 2, prompt: 'Fine?', requiredRole: 'cook' } },
    })
    const { reviewer, asked } = reviewWith(again, again, { action: 'CONTINUE' })
    const result = await run(refine, { reviewer })
    expect(result.output).toBe('Do 3 More {salt}')
    expect(judged).toEqual([1])
    expect(asked.map(({ prompt }) => prompt)).toEqual([
      'Fine?\n\nDo 1 ',
      'Fine?\n\nDo 2 More {salt}',
      'Fine?\n\nDo 3 More {salt}',
    ])
    expect(asked[0]?.requiredRole).toBe('cook')
    const failed = await run(refine, { reviewer: reviewWith(again, again, again).reviewer })
    expect(failed.error?.code).toBe('REVIEW_REJECTED')
    expect(failed.tasks).toHaveLength(3)
  })

  it('A rejection without feedback fails the loop, and an early exit ends the run', async () => {
    const refine = repeat('Do {round}', { max: 1, onMax: 'review' })
    const rejected = await run(refine, { reviewer: reviewWith({ action: 'REJECT' }).reviewer })
    expect(rejected.error?.code).toBe('REVIEW_REJECTED')
    const left = await run(refine, { reviewer: reviewWith({ action: 'EXIT_EARLY' }).reviewer })
    expect(left).toMatchObject({ status: 'COMPLETED', output: '' })
  })

  it('A run whose loop asks a person is refused without a reviewer, and only waits while it does', async () => {
    const refine = repeat('Do', { max: 1, onMax: { review: { timeoutMs: Infinity } } })
    const team = ensemble({ name: 'team', tasks: [refine] })
    await expect(team.run()).rejects.toThrow('"refine"')
    const first = startRecorded(team, { decidable: true })
    await nextTurn()
    await nextTurn()
    expect(first.waits.count).toBe(1)
    first.release()
    const second = startRecorded(team, { decidable: true, from: first })
    await nextTurn()
    await nextTurn()
    const [review] = second.handle.snapshot().reviews
    await second.handle.decide(review?.reviewId ?? '', { action: 'EDIT', input: 'Done' })
    expect((await second.handle.result).output).toBe('Done')
    expect(eventsOf(second.events, 'delegation_started')).toEqual([])
  })
})

describe('[ENS-P16] the checks of a loop', () => {
  const text = task({ name: 'text', description: 'Judge' })
  const counter = task({ name: 'counter', description: 'Judge', output: Type.Integer() })
  const reading = task({ name: 'reading', description: '{output.x}', output: Type.Boolean() })

  it.each<[string, object, string]>([
    ['no maximum', {}, 'loop.max must be an integer from 1 to 1000, got undefined'],
    ['a maximum above 1000', { max: 1001 }, 'loop.max must be an integer from 1 to 1000, got 1001'],
    [
      'wrong choices',
      { max: 0, onmax: 'fail', result: 'first', history: 'none', onMax: 'stop' },
      'unknown option "onmax" of loop (did you mean "onMax"?); ' +
        'loop.max must be an integer from 1 to 1000, got 0; ' +
        'loop.onMax must be one of accept, fail, review, got "stop"; ' +
        'loop.history must be one of last, all, got "none"; ' +
        'loop.result must be one of last, all, got "first"',
    ],
    [
      'an invalid review',
      { max: 1, onMax: { review: { timeoutMs: 0 }, role: 'x' }, stopWhenUnchanged: 1 },
      'unknown option "role" of loop.onMax (known options: review); loop.onMax.review.timeoutMs must be > 0, got 0; ' +
        'loop.stopWhenUnchanged must be a boolean, got 1',
    ],
    [
      'an invalid history',
      { max: 1, history: { window: 0, maxTokens: 0, size: 1 } },
      'unknown option "size" of loop.history (known options: window, maxTokens); loop.history.window must be an integer >= 1, got 0; ' +
        'loop.history.maxTokens must be a number >= 1, got 0',
    ],
    [
      'a history that nothing reads',
      { max: 1, history: 'all' },
      'loop.history has no effect: no text of the task has {history}',
    ],
    [
      'an end that always fails',
      { max: 1, onMax: 'fail' },
      "loop.onMax is 'fail', so the loop would always fail: set until or stopWhenUnchanged",
    ],
    [
      'a number as condition',
      { max: 1, until: 3 },
      'loop.until must be a function or { judge: task }, got 3',
    ],
    [
      'a function with a judge',
      { max: 1, until: Object.assign(() => true, { judge: reading }) },
      'loop.until must be a function or { judge: task }, and cannot be both',
    ],
    [
      'a text as judge',
      { max: 1, until: { judge: 'me', when: 1 } },
      'unknown option "when" of loop.until (known options: judge); loop.until.judge must be created with task(), got "me"',
    ],
    [
      'a judge whose output is text',
      { max: 1, until: { judge: text } },
      'loop.until.judge must have an output schema: a boolean, or an object with "done" and "feedback"',
    ],
    [
      'a judge whose output is a number',
      { max: 1, until: { judge: counter } },
      'loop.until.judge must have a boolean, or an object with "done" and "feedback" as output',
    ],
    [
      'a judge that reads an unknown field',
      { max: 1, until: { judge: reading } },
      'loop.until.judge task "reading" reads {output.x}, but the output of "x" has no such field',
    ],
  ])('A loop with %s is refused when its task is created', (_, loop, problem) => {
    const definition = { name: 'x', description: 'Do', output: Draft, loop: loop as never }
    expect(() => task(definition)).toThrow(`Cannot create task "x": ${problem}`)
  })

  it('Fields that the output before cannot have, and items with the name of a variable, are refused', () => {
    expect(() =>
      task({ name: 'x', description: '{previous.z}', output: Draft, loop: { max: 1 } }),
    ).toThrow(
      'Cannot create task "x": loop: task "x" reads {previous.z}, but the output of "x" has no such field',
    )
    expect(() =>
      task({
        name: 'x',
        description: '{round}',
        forEach: { over: 'list', as: 'round' },
        loop: { max: 1 },
      }),
    ).toThrow('forEach.as must not be "round", which the loop of the task fills in')
  })

  it('A task whose name a round can have is refused with the ensemble, and a judge without a model with the run', () => {
    const judge = task({ name: 'judge', description: '{output}', output: Type.Boolean() })
    const refine = task({
      name: 'refine',
      description: 'Do',
      handler: () => 'x',
      loop: { max: 1, until: { judge } },
    })
    const clash = task({ name: 'refine/1', description: 'Do', handler: () => 'x' })
    expect(() => ensemble({ name: 'team', tasks: [refine, clash] })).toThrow(
      'task "refine/1": tasks that "refine" adds have such names',
    )
    expect(() => ensemble({ name: 'team', tasks: [refine] }).start()).toThrow(
      'Cannot run "team": task "judge" has no model',
    )
  })
})
