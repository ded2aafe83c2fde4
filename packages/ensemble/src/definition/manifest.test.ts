import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { scriptedModel } from '../../test/testing.ts'
import { ensemble } from '../ensemble.ts'
import { agent } from './agent.ts'
import { task } from './define-task.ts'
import { describeCode, diffManifests, isTextDifference } from './manifest.ts'

import type { ToolSchema } from '@tutti/core/internal'
import type { Ensemble } from '../ensemble.ts'

interface Code {
  readonly description?: string
  readonly goal?: string
  readonly toolName?: string
  readonly toolVersion?: string
  readonly query?: ToolSchema
  readonly output?: ToolSchema
  readonly version?: string
  readonly lastTask?: string
  readonly maxConcurrentTasks?: number
}

function createTeam({
  description = 'Research it',
  goal = 'Know it',
  toolName = 'search',
  toolVersion = '1',
  output = Type.Object({ notes: Type.String() }),
  version = '1',
  lastTask = 'publish',
  maxConcurrentTasks = 4,
}: Code = {}): Ensemble {
  const research = task({
    name: 'research',
    description,
    agent: agent({ role: 'Researcher', goal }),
    output,
    tools: [
      defineTool({
        name: toolName,
        description: 'Searches',
        version: toolVersion,
        input: Type.Object({ query: Type.String() }),
        execute: () => 'found',
      }),
    ],
  })
  const publish = task({
    name: lastTask,
    description: 'Publish it',
    context: [research],
    version,
    handler: () => 'published',
  })
  return ensemble({
    name: 'team',
    model: scriptedModel([]),
    tasks: [research, publish],
    maxConcurrentTasks,
  })
}

/** Returns the tasks and fields that differ. */
function diff(code: Code): readonly string[] {
  const [before, after] = [describeCode(createTeam()), describeCode(createTeam(code))]
  const differences = diffManifests(before.manifest, after.manifest)
  expect(before.digest === after.digest).toBe(differences.length === 0)
  return differences.map(({ task: name = '', field }) => `${name}.${field}`)
}

describe('describeCode', () => {
  it('[ENS-V3] describeCode contains no text of a prompt except descriptions', () => {
    const writer = agent({ role: 'Writer', goal: 'canary goal', background: 'canary background' })
    const write = task({
      name: 'write',
      description: 'Write',
      expectedOutput: 'canary output',
      instructions: 'canary instructions',
      additionalContext: 'canary context',
      agent: writer,
    })
    const { manifest } = describeCode(
      ensemble({ name: 'desk', tasks: [write], model: scriptedModel([]) }),
    )
    expect(JSON.stringify(manifest)).not.toContain('canary')
    expect(manifest.tasks['write']).toHaveProperty('agentGoal')
  })

  it('[ENS-V1] [ENS-V2] describeCode has the same digest for the same code, also with another concurrency', () => {
    expect(diff({})).toEqual([])
    expect(diff({ maxConcurrentTasks: 9 })).toEqual([])
    expect(describeCode(createTeam()).digest).toMatch(/^[0-9a-f]{16}$/)
  })

  it.each<[string, Code, readonly string[]]>([
    ['a reworded task', { description: 'Research all' }, ['research.description']],
    ['another goal of an agent', { goal: 'Know all' }, ['research.agentGoal']],
    ['a renamed tool', { toolName: 'find' }, ['research.tools']],
    ['another version of a tool', { toolVersion: '2' }, ['research.tools']],
    ['another output schema', { output: Type.Object({}) }, ['research.output']],
    ['another version of a handler', { version: '2' }, ['publish.version']],
    ['a renamed task', { lastTask: 'print' }, ['.tasks', 'publish.task', 'print.task']],
  ])('[ENS-V1] [ENS-V2] describeCode names %s', (_, code, fields) => {
    expect(diff(code)).toEqual(fields)
  })
})

describe('isTextDifference', () => {
  it('isTextDifference is true for a text of a task, and false for a schema', () => {
    expect(isTextDifference({ task: 'research', field: 'description' })).toBe(true)
    expect(isTextDifference({ task: 'research', field: 'output' })).toBe(false)
    expect(isTextDifference({ field: 'workflow' })).toBe(false)
  })
})
