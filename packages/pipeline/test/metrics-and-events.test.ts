/** Tests that each step is counted and has an event, in addition to the call of the model. */
import { describe, expect, it } from 'vitest'

import { createToolMetrics, runTool, ToolResult } from '@tutti/core'
import { branch, mapEach, parallel, pipeline, pipelineBuilder } from '../src/index.ts'
import { textTool, throwingTool } from './text-tools.ts'

import type { AgentTool } from '@tutti/core'
import type { NestedToolCall, ToolProgress } from '@tutti/core/internal'

function collectMetrics(
  tool: AgentTool,
  input: object,
): Promise<Record<string, readonly number[]>> {
  const metrics = createToolMetrics()
  const call = { id: 'c', name: tool.name, arguments: JSON.stringify(input) }
  return runTool(tool, call, { metrics, agentRole: 'Writer' }).then(() => {
    const snapshot = metrics.snapshot()
    expect(snapshot.every(({ agentRole }) => agentRole === 'Writer')).toBe(true)
    return Object.fromEntries(
      snapshot.map(({ toolName, success, failure, error }) => [
        toolName,
        [success, failure, error],
      ]),
    )
  })
}

describe('the metrics of a pipeline', () => {
  it('The metrics of a pipeline count each step and the pipeline once', async () => {
    const tool = pipeline([textTool('a'), textTool('b')], { name: 'p' })
    expect(await collectMetrics(tool, { input: '' })).toEqual({
      p: [1, 0, 0],
      a: [1, 0, 0],
      b: [1, 0, 0],
    })
  })

  it('The metrics of a pipeline count a step that threw as an error and a failed one as a failure, but not steps that did not run', async () => {
    expect(
      await collectMetrics(pipeline([throwingTool('a'), textTool('b')], { name: 'p' }), {
        input: '',
      }),
    ).toEqual({ a: [0, 0, 1], p: [0, 1, 0] })
    const failing = textTool('a', () => ToolResult.failure('No'))
    const goesOn = pipeline([failing, textTool('b')], {
      name: 'p',
      errorStrategy: 'CONTINUE_ON_FAILURE',
    })
    expect(await collectMetrics(goesOn, { input: '' })).toEqual({
      a: [0, 1, 0],
      b: [1, 0, 0],
      p: [1, 0, 0],
    })
  })

  it('The metrics of a pipeline count rejected input as a failure of the pipeline', async () => {
    expect(await collectMetrics(pipeline([textTool('a')], { name: 'p' }), {})).toEqual({
      p: [0, 1, 0],
    })
  })

  it('The metrics of a pipeline count nested steps', async () => {
    const tool = pipelineBuilder({ name: 'outer' })
      .step(
        parallel({
          x: textTool('a'),
          y: pipeline([textTool('a'), textTool('b')], { name: 'inner' }),
        }),
      )
      .adapter(({ structured }) => [structured.x, structured.y, ''])
      .step(
        mapEach(
          branch({ when: (text: string) => text !== '', yes: textTool('d') }, { name: 'choose' }),
        ),
      )
      .build()
    expect(await collectMetrics(tool, { input: 'i' })).toEqual({
      outer: [1, 0, 0],
      x_and_y: [1, 0, 0],
      a: [2, 0, 0],
      inner: [1, 0, 0],
      b: [1, 0, 0],
      each_choose: [1, 0, 0],
      choose: [3, 0, 0],
      d: [2, 0, 0],
    })
  })
})

describe('the events of a pipeline', () => {
  it('The events of a pipeline describe each step: its position, input, end and parent', async () => {
    const told: [NestedToolCall, string][] = []
    const tool = pipelineBuilder({ name: 'p' })
      .step(textTool('a'))
      .adapter(({ output }) => [output, 'y'])
      .step(mapEach(pipeline([textTool('b')], { name: 'q' })))
      .build()
    const call = { id: 'c', name: 'p', arguments: '{"input":"x"}' }
    await runTool(tool, call, {
      onNestedOutcome(nested, { end }) {
        told.push([nested, end])
      },
    })
    expect(told).toEqual([
      [{ id: 'c/1:a', name: 'a', arguments: '"x"', parentId: 'c' }, 'finished'],
      ...[0, 1].flatMap((index) => {
        const id = `c/2:each_q/#${index}`
        const text = index === 0 ? '"x>a"' : '"y"'
        return [[{ id: `${id}/1:b`, name: 'b', arguments: text, parentId: id }, 'finished']]
      }),
      ...[0, 1].map((index) => [
        {
          id: `c/2:each_q/#${index}`,
          name: 'q',
          arguments: index === 0 ? '"x>a"' : '"y"',
          parentId: 'c/2:each_q',
        },
        'finished',
      ]),
      [{ id: 'c/2:each_q', name: 'each_q', arguments: '["x>a","y"]', parentId: 'c' }, 'finished'],
    ])
  })

  it('The events of a pipeline give each step an idempotency key that is stable across repeated calls', async () => {
    const keys: string[] = []
    const keep = (name: string): AgentTool =>
      textTool(name, (text, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        return text
      })
    const tool = pipeline([keep('a'), keep('a'), parallel({ x: keep('b'), y: keep('b') })])
    const call = { id: 'c', name: tool.name, arguments: '{"input":"x"}' }
    await runTool(tool, call, { idempotencyKey: 'run-1/c' })
    const first = keys.splice(0)
    await runTool(tool, call, { idempotencyKey: 'run-1/c' })
    expect(first).toEqual([
      'run-1/c/1:a',
      'run-1/c/2:a',
      'run-1/c/3:x_and_y/x',
      'run-1/c/3:x_and_y/y',
    ])
    expect(keys).toEqual(first)
  })

  it('The events of a pipeline carry progress, file changes and the call context from any depth', async () => {
    const told: (readonly [string, ToolProgress | string])[] = []
    const busy = textTool('busy', (_, context) => {
      context.reportProgress({ message: 'half', fraction: 0.5 })
      context.reportFileChange({
        path: 'a.txt',
        changeType: 'CREATED',
        linesAdded: 1,
        linesRemoved: 0,
      })
      return [context.agentRole, context.taskName, context.runId].join(' ')
    })
    const tool = pipeline([pipeline([busy], { name: 'q' })], { name: 'p' })
    const { result } = await runTool(
      tool,
      { id: 'c', name: 'p', arguments: '{"input":""}' },
      {
        agentRole: 'Writer',
        taskName: 'write',
        runId: 'run-1',
        onProgress: ({ id }, progress) => told.push([id, progress]),
        onFileChange: ({ id }, { path }) => told.push([id, path]),
      },
    )
    expect(result.output).toBe('Writer write run-1')
    expect(told).toEqual([
      ['c/1:q/1:busy', { message: 'half', fraction: 0.5 }],
      ['c/1:q/1:busy', 'a.txt'],
    ])
  })
})
